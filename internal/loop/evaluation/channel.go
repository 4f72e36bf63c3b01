package evaluation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/org/autoloop/internal/program"
)

// resultVariable names the file in which a script may give its result, in the
// shell that runs the script and in nothing that it starts.
const resultVariable = program.ResultVariable

const maxResult = 1 << 20

// channel is a file for a script's result that the code under test is not told
// of, which shares the script's standard output.
type channel struct{ dir string }

func (c channel) file() string { return filepath.Join(c.dir, "result.json") }

// preamble keeps the variable in the shell and takes it out of the environment.
// It has no line of its own, so that the lines of the script keep their numbers.
func (channel) preamble() string {
	const v = resultVariable
	return "_autoloop=$" + v + "; unset " + v + "; " + v + "=$_autoloop; unset _autoloop; "
}

// read returns what the script wrote, nil when it wrote nothing. The error is one
// line for people.
func (c channel) read() ([]byte, error) {
	info, err := os.Lstat(c.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil || !info.Mode().IsRegular():
		return nil, errors.New("$" + resultVariable + " is no regular file after the evaluation")
	case info.Size() > maxResult:
		return nil, fmt.Errorf("$%s has %d bytes; a result has at most %d", resultVariable, info.Size(), maxResult)
	case info.Size() == 0:
		return nil, nil
	}
	text, err := os.ReadFile(c.file())
	if err != nil {
		return nil, errors.New("$" + resultVariable + " cannot be read after the evaluation")
	}
	return text, nil
}

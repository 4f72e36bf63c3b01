// Command agent is an agent without a model, for seeing the program run: it
// adds the first test of its list that the tests do not have. A real agent reads
// its prompt on standard input and thinks of one; this one only writes it down.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// target is the file that may change.
const target = "programs/test-coverage/version/version_test.go"

// list has the tests, one after the other, each with the line before it that
// says what it adds.
//
//go:embed list.txt
var list string

func main() {
	summary, err := add(target)
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
	fmt.Println(summary)
}

// add writes the next test to the end of the file and says what it is.
func add(file string) (summary string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for _, test := range strings.Split(list, "\n// Adds ")[1:] {
		summary, code, _ := strings.Cut(test, "\n")
		name := regexp.MustCompile(`func Test\w+\(`).FindString(code)
		if name == "" {
			return "", errors.New("the list has no test for " + summary)
		}
		if !strings.Contains(string(text), name) {
			changed := strings.TrimRight(string(text), "\n") + "\n\n" + strings.Trim(code, "\n") + "\n"
			return "Add " + summary, os.WriteFile(file, []byte(changed), 0o600)
		}
	}
	return "every test of the list is there", nil
}

package setup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/program"
)

// Action is what `iterate init` does with one file, label or branch.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update"
	Rename Action = "rename"
	Keep   Action = "keep"
)

// Step is one file, its path in the repository with slashes and the text
// that it gets; or something else, which Do does.
type Step struct {
	Action Action                      `json:"action"`
	Name   string                      `json:"name"`
	Why    string                      `json:"why,omitempty"`
	Text   string                      `json:"-"`
	Do     func(context.Context) error `json:"-"`
}

// Apply does the step. A new file is written only if it still does not exist.
func (s *Step) Apply(ctx context.Context, root string) error {
	if s.Action == Keep {
		return nil
	}
	if s.Do != nil {
		return s.Do(ctx)
	}
	if err := insideOnly(root, s.Name); err != nil {
		return err
	}
	file := filepath.Join(root, s.Name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if s.Action == Update {
		return files.WriteFile(file, []byte(s.Text), 0o644)
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = out.WriteString(s.Text)
	return errors.Join(err, out.Close())
}

const sealWords = "written by iterate init, sha256 "

// sealed adds a last line with the digest of the text, by which a later init
// knows whether somebody edited it.
func sealed(text, before, after string) string {
	return text + before + sealWords + digestOf(text) + after + "\n"
}

// isSealed says whether a text is as some init wrote it.
func isSealed(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	at := strings.LastIndex(body, "\n") + 1
	_, digest, found := strings.Cut(body[at:], sealWords)
	digest, _, _ = strings.Cut(digest, " ")
	return found && digest == digestOf(body[:at])
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Options are the wishes of `iterate init`.
type Options struct {
	// Force replaces also what was edited.
	Force bool
	// Action is what `uses:` names, "" for what is there or the source of Origin.
	Action string
	Origin Origin
	// Pages asks for the workflow that puts the page on GitHub Pages; one that is
	// there stays.
	Pages bool
	// Simple asks for one job, or for two when it is false; nil keeps what there is.
	Simple *bool
}

// Steps compares the files that there are with those that should be, for the programs that
// are found in a directory, "" for the usual one.
func Steps(root, dir string, programs []*program.Program, o Options) ([]Step, error) {
	steps, err := initFiles(root, programs, dir, o)
	for i := range steps {
		if err == nil {
			err = steps[i].compare(root, o.Force)
		}
	}
	if err != nil {
		return nil, err
	}
	if wantsSimple(root, o) && exists(root, pairWorkflow) {
		steps = append(steps, Step{Action: Keep, Name: pairWorkflow, Why: "(nothing calls it any more: delete it)"})
	}
	if len(programs) > 0 {
		steps = append(steps, Step{Action: Keep, Name: programs[0].File, Why: "(there is a program)"})
	}
	return steps, nil
}

func exists(root, name string) bool {
	_, err := os.Lstat(filepath.Join(root, name))
	return err == nil
}

// compare decides what happens to one file of ours.
func (s *Step) compare(root string, force bool) error {
	if err := insideOnly(root, s.Name); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(root, s.Name))
	now := strings.ReplaceAll(string(data), "\r\n", "\n")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.Action = Create
	case err != nil:
		return err
	case now == s.Text:
		s.Action, s.Why = Keep, "(up to date)"
	case force || isSealed(now) || strings.HasPrefix(s.Text, now) && now != "":
		s.Action = Update
	default:
		s.Action, s.Why = Keep, "(edited, or not written by iterate init; --force replaces it)"
	}
	return nil
}

// insideOnly refuses a path with a link in it, which could lead out of the
// repository.
func insideOnly(root, name string) error {
	at := root
	for part := range strings.SplitSeq(name, "/") {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, and is not written through: replace it by what it points to", at)
		}
	}
	return nil
}

// LabelSteps are the labels that the repository on GitHub lacks. Where they
// cannot be made from here, byHand says how, and the error why.
func LabelSteps(ctx context.Context, client *api.Client) (steps []Step, byHand string, err error) {
	var there []api.Label
	if client != nil {
		there, err = client.Labels(ctx)
	}
	for _, label := range []api.Label{
		{Name: sync.ProgramLabel, Color: "1d76db", Description: "A program that Autoloop runs"},
		{Name: sync.CompletedLabel, Color: "0e8a16", Description: "A program that reached its target"},
		{Name: "automation", Color: "ededed", Description: "Opened by a workflow"},
		{Name: "autoloop", Color: "c5def5", Description: "Belongs to Autoloop"},
	} {
		if client == nil || err != nil {
			byHand += fmt.Sprintf("  gh label create %s --color %s --description %q --force\n", label.Name, label.Color,
				label.Description)
			continue
		}
		step := Step{
			Action: Create, Name: "label " + label.Name,
			Do: func(ctx context.Context) error { return client.CreateLabel(ctx, label) },
		}
		if slices.ContainsFunc(there, func(l api.Label) bool { return strings.EqualFold(l.Name, label.Name) }) {
			step.Action, step.Why = Keep, " (is there)"
		}
		steps = append(steps, step)
	}
	return steps, byHand, err
}

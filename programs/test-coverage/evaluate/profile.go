package main

import (
	"fmt"
	"math"
	"os"
	"strings"

	"programs/evaluator"
)

// maxProfile bounds a profile, in bytes.
const maxProfile = 1 << 20

// block is a run of statements of which either all ran or none.
type block struct {
	place      string // from where to where
	statements int
}

// readProfile reads a profile in the form of `go test -coverprofile`.
func readProfile(file string) (map[block]bool, error) {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() > maxProfile {
		return nil, evaluator.Faultf("the tests ended without a profile")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseProfile(string(text))
}

func parseProfile(text string) (map[block]bool, error) {
	first, rest, _ := strings.Cut(text, "\n")
	if first != "mode: set" {
		return nil, evaluator.Faultf("the profile begins with %.40q", first)
	}
	blocks := map[block]bool{}
	for line := range strings.Lines(rest) {
		var b block
		var count int
		if _, err := fmt.Sscanf(line, "%s %d %d\n", &b.place, &b.statements, &count); err != nil {
			return nil, evaluator.Faultf("the profile has the line %.80q", line)
		}
		_, twice := blocks[b]
		if twice || !strings.HasPrefix(b.place, "candidate/version/version.go:") || b.statements < 0 || count < 0 || count > 1 {
			return nil, evaluator.Faultf("the profile has the line %.80q", line)
		}
		blocks[b] = count == 1
	}
	return blocks, nil
}

// score counts the statements that ran among all that there are.
func score(all, ran map[block]bool) (result, error) {
	var scored result
	for b := range all {
		covered, known := ran[b]
		if !known || len(ran) != len(all) {
			return result{}, evaluator.Faultf("the profile is of other code")
		}
		scored.Statements += b.statements
		if covered {
			scored.Covered += b.statements
		}
	}
	if scored.Statements == 0 {
		return result{}, evaluator.Faultf("the profile is empty")
	}
	// Rounded down, so that 100 is all of it.
	percent := math.Floor(1e4*100*float64(scored.Covered)/float64(scored.Statements)) / 1e4
	scored.Coverage = &percent
	return scored, nil
}

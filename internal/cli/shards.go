package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/document"
	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/schedule"
)

// shardFile tells what part of a suite a directory has.
const shardFile = "shard.json"

// shardSchema is its version.
const shardSchema = 1

// shardPart is what one job made of a suite that several share.
type shardPart struct {
	Schema int `json:"schema_version"`
	// Kind is partOfTasks or partOfSkill; Digest identifies the suite and what
	// was measured with it.
	Kind   string `json:"kind"`
	Digest string `json:"digest"`
	Index  int    `json:"index"`
	Of     int    `json:"of"`
	// Skill has the part's figures, with Orders, the cases of the whole suites.
	Skill  *evaluated          `json:"skill,omitempty"`
	Orders map[string][]string `json:"orders,omitempty"`
}

// The kinds of parts.
const (
	partOfTasks = "tasks"
	partOfSkill = "skill"
)

func newShardsCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shards",
		Short: "Put together what several jobs made of one suite",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	merge := &cobra.Command{
		Use:   "merge OUT PART...",
		Short: "Put the parts of a suite together in the new directory OUT",
		Long: "Put together what `iterate skill eval --shard I/N --out PART` or `iterate tasks compare --shard I/N --cache PART`\n" +
			"left in N directories. All N must be there, and of the same suite.\n\n" +
			"Of a skill's suites it prints what one machine would have printed. Of a task suite OUT has the finished runs:\n" +
			"the same `iterate tasks compare`, with --cache OUT and without --shard, takes them and compares.",
		Example: "  iterate shards merge all part-1 part-2 part-3\n" +
			"  iterate tasks compare --suite tasks --agent claude --cache all --report report",
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return mergeShards(env, args[0], args[1:], asJSON) },
	}
	merge.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.AddCommand(merge)
	return cmd
}

// mergeShards checks the parts before it writes anything; OUT appears whole or
// not at all.
func mergeShards(env Env, out string, dirs []string, asJSON bool) error {
	target := env.Path(out)
	if _, err := os.Lstat(target); err == nil {
		return misuse.Errorf("%s exists already; name a new directory", out)
	}
	parts := make([]shardPart, len(dirs))
	for i, dir := range dirs {
		var err error
		if parts[i], err = readPart(env.Path(dir)); err != nil {
			return misuse.Errorf("%s: %w", dir, err)
		}
	}
	if err := fitTogether(dirs, parts); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return err
	}
	staged, err := os.MkdirTemp(filepath.Dir(target), ".merge-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(staged) }()
	for _, dir := range dirs {
		if err := addPart(staged, env.Path(dir)); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	if parts[0].Kind == partOfTasks {
		if err := os.Rename(staged, target); err != nil {
			return err
		}
		return sayMerged(env, out, parts, asJSON)
	}
	whole, err := mergeEvaluated(parts)
	if err != nil {
		return misuse.New(err)
	}
	if err := os.Rename(staged, target); err != nil {
		return err
	}
	return whole.print(env, asJSON)
}

func sayMerged(env Env, out string, parts []shardPart, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(map[string]any{"merged": len(parts), "cache": env.Path(out)})
	}
	_, err := fmt.Fprintf(env.Stdout, "%d parts are together in %s; now run the same `iterate tasks compare` with --cache %s and without --shard\n", len(parts), out, out)
	return err
}

// readPart reads what a directory says of itself.
func readPart(dir string) (part shardPart, err error) {
	const most = 64 << 20
	file := filepath.Join(dir, shardFile)
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return part, fmt.Errorf("it has no %s: it is no part that --shard made", shardFile)
	case err != nil:
		return part, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return part, fmt.Errorf("%s is no file of at most %d MB", shardFile, most>>20)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return part, err
	}
	if err := json.Unmarshal(data, &part); err != nil {
		return part, fmt.Errorf("%s: %s", shardFile, document.JSONError(err))
	}
	if part.Schema != shardSchema {
		return part, fmt.Errorf("%s has schema %d; this program reads %d", shardFile, part.Schema, shardSchema)
	}
	if part.Kind != partOfTasks && (part.Kind != partOfSkill || part.Skill == nil) {
		return part, fmt.Errorf("%s is of no kind that is known", shardFile)
	}
	return part, nil
}

// writePart says in a directory which part it is.
func writePart(dir string, part shardPart) error {
	part.Schema = shardSchema
	data, err := json.MarshalIndent(part, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteFile(filepath.Join(dir, shardFile), append(data, '\n'), 0o600)
}

// fitTogether checks that the parts are all of one suite's, each once.
func fitTogether(dirs []string, parts []shardPart) error {
	first := parts[0]
	seen := map[int]string{}
	for i, part := range parts {
		switch {
		case part.Kind != first.Kind || part.Of != first.Of:
			return misuse.Errorf("%s is part %d/%d of %s, but %s is part %d/%d of %s", dirs[i], part.Index, part.Of, part.Kind, dirs[0], first.Index, first.Of, first.Kind)
		case part.Digest != first.Digest:
			return misuse.Errorf("%s and %s are of different suites, candidates or agents; run all parts from the same commit with the same flags", dirs[0], dirs[i])
		case part.Index < 1 || part.Index > part.Of:
			return misuse.Errorf("%s says that it is part %d/%d", dirs[i], part.Index, part.Of)
		case seen[part.Index] != "":
			return misuse.Errorf("%s and %s are both part %d/%d", seen[part.Index], dirs[i], part.Index, part.Of)
		}
		seen[part.Index] = dirs[i]
	}
	for i := range first.Of {
		if seen[i+1] == "" {
			return misuse.Errorf("part %d/%d is missing: run it with --shard %d/%d", i+1, first.Of, i+1, first.Of)
		}
	}
	return nil
}

// addPart copies a part's files. One that is in two parts must be the same.
func addPart(target, dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := filepath.Join(target, name)
		switch {
		case name == shardFile:
			return nil
		case entry.IsDir():
			return os.MkdirAll(to, 0o700)
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", name)
		}
		return copyNew(path, to)
	})
}

// copyNew copies a file to where none is.
func copyNew(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if there, err := os.ReadFile(to); err == nil && bytes.Equal(there, data) {
			return nil
		}
		return fmt.Errorf("%s is in two parts, and is not the same", filepath.Base(to))
	}
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// inShard are the items of a part: every n-th.
func inShard[T any](items []T, s schedule.Shard) []T {
	if s.Of <= 1 {
		return items
	}
	var mine []T
	for i := s.Index - 1; i < len(items); i += s.Of {
		mine = append(mine, items[i])
	}
	return slices.Clip(mine)
}

package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/history"
	"github.com/org/autoloop/internal/process"
)

// grader is who grades, as a record names it.
type grader interface{ Name() string }

// Executor describes who works on the cases or tasks of a suite with a model and
// a command, and who grades them, nil for nobody.
func Executor(ctx context.Context, env Env, worker agent.Agent, model, command string, judge grader) (*history.Executor, error) {
	found := &history.Executor{Agent: worker.Name(), Model: model}
	if judge != nil {
		found.Judge, found.JudgeVersion = judge.Name(), judgeVersion(ctx, env, judge)
	}
	if worker.Name() == "command" {
		found.Command, found.CommandSHA256 = process.NewMasker(env.Environ).String(command), CommandDigest(env, command)
	}
	program, outside := worker.(agent.Installed)
	if !outside {
		return found, nil
	}
	version, err := program.Version(ctx)
	if err != nil {
		return found, fmt.Errorf("ask agent %s for its version: %w", worker.Name(), err)
	}
	found.Version = version
	return found, nil
}

// judgeVersion is what the agent that grades says of itself; "" when it does not, and
// of an API.
func judgeVersion(ctx context.Context, env Env, judge grader) string {
	asked, is := judge.(interface{ Agent() string })
	if !is || asked.Agent() == "" {
		return ""
	}
	found, err := NewRegistry(env, env.NewRunner(), process.Masker{}).Lookup(asked.Agent())
	installed, is := found.(agent.Installed)
	if err != nil || !is {
		return ""
	}
	version, _ := installed.Version(ctx) // "" when it does not say
	return version
}

// CommandDigest identifies the content of the files that an agent's command
// names.
func CommandDigest(env Env, text string) string {
	sum := sha256.New()
	for _, file := range NamedFiles(env, text) {
		addFile(sum, file)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func addFile(sum io.Writer, name string) {
	const most = 64 << 20
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return
	}
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	fmt.Fprintf(sum, "%q %d\n", name, info.Size())
	_, _ = io.Copy(sum, io.LimitReader(file, most))
}

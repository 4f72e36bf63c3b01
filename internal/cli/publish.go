package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/git/tree"
	"github.com/org/autoloop/internal/github/sync"
	"github.com/org/autoloop/internal/loop"
	"github.com/org/autoloop/internal/loop/proposal"
	"github.com/org/autoloop/internal/process"
)

func newPublishCommand(env Env, parent *iterateOptions) *cobra.Command {
	var o iterateOptions
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Record the bundle of `iterate propose`, without running any code of the program",
		Long: "Hold a bundle against the program, its branch and its books as they are now, and record it as `iterate`\n" +
			"would have. A bundle that is stale, altered, too large, of another program, against the rules or\n" +
			"published before is refused with a reason (exit code 1), and nothing is changed.",
		Example: "  iterate publish --program speed bundle",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.repoDir, o.programs = parent.repoDir, parent.programs
			return publishCommand(cmd.Context(), env, o, args[0])
		},
	}
	programFlags(cmd.Flags(), env, &o)
	return cmd
}

// publishCommand reads a bundle and records it.
func publishCommand(ctx context.Context, env Env, o iterateOptions, dir string) error {
	if env.Paused() {
		return errors.New("AUTOLOOP_PAUSED is true: nothing is published; set it to false and publish again")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	made, err := proposal.Read(dir)
	if err != nil {
		return err
	}
	if o.program == "" {
		o.program = made.Program
	}
	runDir, err := newRunDir()
	if err != nil {
		return err
	}
	defer func() { _ = tree.RemoveAll(runDir) }()
	service, err := newPublisher(ctx, env, o, runDir)
	if err != nil {
		return err
	}
	shown := newProgress(env)
	service.Progress = shown.Step
	result, err := service.Publish(ctx, made)
	shown.Close()
	if err != nil {
		return err
	}
	return deliver(env, o, service.Program, []loop.Result{result})
}

// newPublisher wires a service that neither proposes nor measures.
func newPublisher(ctx context.Context, env Env, o iterateOptions, runDir string) (*loop.Service, error) {
	hub, err := o.hub(env)
	if err != nil {
		return nil, err
	}
	who, err := identity(env)
	if err != nil {
		return nil, err
	}
	repo, err := openRepo(ctx, env, o.repoDir, append(who, gitOptions(env, hub)...)...)
	if err != nil {
		return nil, err
	}
	p, issue, err := chooseProgram(ctx, env, repo, hub, o)
	if err != nil {
		return nil, err
	}
	if p.CIGate == "required" && hub == nil {
		return nil, Usagef("%s: `ci-gate: required` needs the repository on GitHub: give --repo and a token, or remove the line", p.File)
	}
	service := newIterateService(env, o, repo.WithTemp(runDir), p, process.NewRunner(), runDir)
	service.Eval = nil
	if hub != nil {
		service.Repository = hub.Repository()
		service.GitHub = &sync.Service{Hub: hub, Program: p, Known: issue, Now: env.Now}
		service.Alive = env.aliveOn(ctx, hub)
	}
	return service, nil
}

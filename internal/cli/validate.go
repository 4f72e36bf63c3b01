package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/git"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/score"
	"github.com/org/autoloop/internal/store"
)

func newValidateCommand(env Env, o *schedulerOptions) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate [FILES…]",
		Short: "Check program files",
		Long: "Check program files, all of the repository's or those named, and say what each will do.\n" +
			"The exit code is 1 when any of them has errors.",
		Example: "  scheduler validate\n  scheduler validate .autoloop/programs/speed.md --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return validate(cmd.Context(), env, *o, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// validated is one file in `scheduler validate --json`.
type validated struct {
	File            string       `json:"file"`
	Name            string       `json:"name"`
	OK              bool         `json:"ok"`
	Errors          []string     `json:"errors"`
	Warnings        []string     `json:"warnings"`
	Unconfigured    bool         `json:"unconfigured"`
	Schedule        *string      `json:"schedule"`
	IntervalSeconds *int64       `json:"interval_seconds"`
	Cron            *string      `json:"cron"`
	TargetMetric    *score.Value `json:"target_metric"`
	MetricDirection string       `json:"metric_direction"`
	Metric          *string      `json:"metric"`
	Targets         []string     `json:"targets"`
	Protected       []string     `json:"protected"`
	Evaluation      program.Kind `json:"evaluation"`
	Script          *string      `json:"evaluation_script"`
}

func validate(ctx context.Context, env Env, o schedulerOptions, files []string, asJSON bool) error {
	root, repo, err := o.root(ctx, env)
	if err != nil {
		return err
	}
	source := store.Programs{Root: root, Dir: o.programs, Parse: program.Parse}
	var programs []*program.Program
	if len(files) == 0 {
		if programs, err = source.Load(false); err != nil {
			return &UsageError{err}
		}
	}
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(env.Dir, file)
		}
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return Usagef("%s does not exist", file)
		}
		programs = append(programs, source.File(file))
	}
	excuse(ctx, env, repo, programs)
	list := []validated{}
	bad := false
	for _, p := range programs {
		v := validateOne(p)
		bad = bad || len(v.Errors) > 0
		list = append(list, v)
	}
	if asJSON {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(list); err != nil {
			return err
		}
	} else {
		printValidated(env, list)
	}
	if bad {
		return &ExitError{Code: ExitFailed}
	}
	return nil
}

// excuse lets programs that have state already keep a contradiction as a
// warning.
func excuse(ctx context.Context, env Env, repo *git.Repo, programs []*program.Program) {
	if repo == nil {
		return
	}
	states, _, err := (&store.Memory{Repo: repo, Now: env.Now}).States(ctx)
	if err != nil {
		return
	}
	for _, p := range programs {
		if _, found := states[p.Name]; found {
			p.Excuse()
		}
	}
}

func validateOne(p *program.Program) validated {
	v := validated{
		File: p.File, Name: p.Name, Unconfigured: p.Unconfigured, TargetMetric: p.Target, MetricDirection: p.Direction.String(),
		Evaluation: p.Evaluation, Errors: []string{}, Warnings: []string{}, Targets: patternTexts(p.Targets), Protected: patternTexts(p.Protected),
		Schedule: given(p.Schedule.Text), Metric: given(p.Metric), Script: given(p.Script),
	}
	for _, problem := range p.Errors() {
		v.Errors = append(v.Errors, problem.String())
	}
	for _, problem := range p.Warnings() {
		v.Warnings = append(v.Warnings, problem.String())
	}
	if err := runnable(p); err != nil && len(v.Errors) == 0 && !p.Unconfigured && (p.Evaluation == program.Metric || len(p.Targets) == 0) {
		v.Errors = append(v.Errors, err.Error())
	}
	if interval, ok := p.Schedule.Interval(); ok {
		seconds := int64(interval.Seconds())
		v.IntervalSeconds = &seconds
	}
	if p.Schedule.IsCron() {
		v.Cron = given(p.Schedule.Text)
	}
	v.OK = len(v.Errors) == 0 && !v.Unconfigured
	return v
}

func patternTexts(patterns []program.Pattern) []string {
	list := make([]string, len(patterns))
	for i, pattern := range patterns {
		list[i] = pattern.Text
	}
	return list
}

func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func printValidated(env Env, list []validated) {
	if len(list) == 0 {
		fmt.Fprintln(env.Stdout, "no programs: make one with `scheduler new NAME`")
	}
	for _, v := range list {
		for _, problem := range v.Errors {
			fmt.Fprintln(env.Stdout, "error:", problem)
		}
		for _, problem := range v.Warnings {
			fmt.Fprintln(env.Stdout, "warning:", problem)
		}
		switch {
		case v.Unconfigured:
			fmt.Fprintf(env.Stdout, "%s: not configured yet: replace its placeholders\n", v.File)
		case v.OK:
			schedule := "at every tick"
			if v.Schedule != nil {
				schedule = *v.Schedule
			}
			fmt.Fprintf(env.Stdout, "%s: ok: %s, %s is better, %d targets\n", v.File, schedule, v.MetricDirection, len(v.Targets))
		}
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/shard"
	"github.com/org/autoloop/internal/skill"
)

func newShardsCommand(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shards",
		Short: "Put together what several jobs made of one suite",
		Long: "With --shard I/N a job runs every N-th case of a suite, and `iterate shards merge` puts together what the jobs\n" +
			"left. See `iterate skill eval --help` and `iterate tasks eval --help`.",
		Example: "  iterate shards merge all part-1 part-2 part-3",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var asJSON bool
	merge := &cobra.Command{
		Use:   "merge OUT PART...",
		Short: "Put the parts of a suite together in the new directory OUT",
		Long: "Put together what `iterate skill eval --shard I/N --out PART` or `iterate tasks eval --shard I/N --cache PART`\n" +
			"left in N directories. All N must be there, and of the same suite.\n\n" +
			"Of a skill's suites it prints what one machine would have printed. Of a task suite OUT has the finished runs:\n" +
			"the same `iterate tasks eval`, with --cache OUT and without --shard, takes them and compares.",
		Example: "  iterate shards merge all part-1 part-2 part-3\n" +
			"  iterate tasks eval --suite tasks --agent claude --cache all --report report",
		Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return mergeShards(env, args[0], args[1:], asJSON) },
	}
	merge.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	cmd.AddCommand(merge)
	return cmd
}

func mergeShards(env Env, out string, dirs []string, asJSON bool) error {
	target := env.Path(out)
	if _, err := os.Lstat(target); err == nil {
		return misuse.Errorf("%s exists already; name a new directory", out)
	}
	var whole skill.Evaluated
	parts, err := shard.Merge(target, dirs, env.Path, func(parts []shard.Part) (err error) {
		if parts[0].Kind == shard.Skill {
			whole, err = skill.MergeEvaluated(parts)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case parts[0].Kind == shard.Skill:
		return printEither(env, asJSON, whole, whole)
	}
	if asJSON {
		return json.NewEncoder(env.Stdout).Encode(map[string]any{"merged": len(parts), "cache": target})
	}
	_, err = fmt.Fprintf(env.Stdout, "%d parts are together in %s; now run the same `iterate tasks eval` with --cache %s and without --shard\n", len(parts), out, out)
	return err
}

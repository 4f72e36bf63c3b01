package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/org/autoloop/internal/shard"
	"github.com/org/autoloop/internal/tasks/taskrun"
)

// ranPart is `iterate tasks eval --shard I/N --json`.
type ranPart struct {
	Shard  string   `json:"shard"`
	Tasks  []string `json:"tasks"`
	Runs   int      `json:"runs"`
	Reused int      `json:"reused_runs"`
	Cache  string   `json:"cache"`
}

// runPart makes the runs of one part of the suite, for `iterate shards merge`.
func (o *tasksOptions) runPart(ctx context.Context, env Env, s *taskrun.TaskSuite, sides [2]taskrun.Side, options taskrun.Options) error {
	wanted, err := parseShard(o.shard)
	if err != nil {
		return err
	}
	done, err := taskrun.RunPart(ctx, s, sides[0], sides[1], options, taskrun.Part{Index: wanted.Index, Of: wanted.Of})
	if err != nil {
		return err
	}
	dir := env.Path(o.Cache)
	if err := shard.Write(dir, shard.Part{Kind: shard.Tasks, Digest: done.Digest, Index: wanted.Index, Of: wanted.Of}); err != nil {
		return fmt.Errorf("say what %s is: %w", o.Cache, err)
	}
	if o.output.json {
		if done.Tasks == nil {
			done.Tasks = []string{}
		}
		return json.NewEncoder(env.Stdout).Encode(ranPart{o.shard, done.Tasks, done.Runs, done.Reused, dir})
	}
	_, err = fmt.Fprintf(env.Stdout, "part %s: %d runs of %d tasks are in %s; put all parts together with `iterate shards merge`\n", o.shard, done.Runs, len(done.Tasks), o.Cache)
	return err
}

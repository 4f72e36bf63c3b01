package lifecycle

const same = "the same"

// Table has a row for each event.
var Table = []Row{
	{Event: Due, Next: Begin, But: map[Phase]Step{
		Ready: Rest, Completed: Rest, Paused: Rest, Waiting: AskCI,
		PausedWaiting: AskCI,
	}},
	{Event: Gained, Next: Open, But: map[Phase]Step{Paused: Rest, PausedWaiting: Rest}},
	{
		Event: Merged, Next: Leave, But: map[Phase]Step{Waiting: Keep, PausedWaiting: Keep},
		Happens: "its pull request is merged, by any button, with its branch deleted or not",
		Draft:   "the branch moves on to the default branch, and the next gain opens another",
		Waits:   "the iteration is kept, whatever CI says",
		Works:   "what is kept is made anew on what was merged, and gets a pull request of its own",
	},
	{
		Event: MergedInto, Next: Stay,
		Happens: "it is merged into another branch",
		Draft:   "the program goes on where it was, and says so; the next gain opens another", Waits: same, Works: same,
	},
	{
		Event: Closed, Next: Pause,
		Happens: "it is closed",
		Draft:   "pauses; after `/autoloop resume` the next gain opens another",
		Waits:   "pauses; what CI says later is recorded", Works: "the iteration ends, then it pauses",
	},
	{
		Event: Reopened, Next: GoOn,
		Happens: "it is opened again",
		Draft:   "goes on with it, and the pause that closing made ends", Waits: same,
	},
	{
		Happens: "it is marked ready",
		Draft:   "nothing begins until it is merged, closed or a draft again (`when-ready: continue`: goes on)",
		Waits:   "CI is still asked", Works: "what the agent made is not kept",
	},
	{
		Happens: "review, comment, comment on lines",
		Draft:   "the next agent is told, once", Waits: same, Works: "the agent after this one is told",
	},
	{
		Event: Moved, Next: Drop,
		Happens: "a person pushes onto its branch, moves it back or deletes it",
		Draft:   "the next iteration measures what is there and goes on from it",
		Waits:   "the iteration ends as not kept; their commit stays",
		Works:   "what the agent made is not kept; the next one goes on from theirs",
	},
	{
		Happens: "the default branch moves",
		Draft:   "it is merged into the branch and measured anew", Waits: "at the next iteration",
		Works: "at the next iteration",
	},
	{
		Happens: "it moves and conflicts",
		Draft:   "pauses; merge it by hand, then resume", Waits: "at the next iteration",
		Works: "at the next iteration",
	},
	{
		Happens: "it gets a workflow file that the token may not push",
		Draft:   "the branch stays on its own base; the merge of both is measured", Waits: same, Works: same,
	},
	{
		Happens: "`/autoloop pause`, or `Paused` in the state",
		Draft:   "nothing begins; what is said is read", Waits: "CI's word is recorded; nothing is fixed or opened",
		Works: "the iteration ends as it would, then it pauses",
	},
	{Happens: "`/autoloop resume`", Draft: "ends a pause or a completion", Waits: "`ci-timeout` begins anew"},
	{
		Happens: "`/autoloop undo N`",
		Draft:   "a commit reverts it, the pull request says so, a new baseline follows",
		Waits:   "the iteration that waits ends as not kept",
		Works:   "after it; refused where it changed the same lines",
	},
	{
		Happens: "`/autoloop run`",
		Draft:   "an iteration begins", Waits: "the answer says that CI is waited for", Works: "another follows",
	},
	{Happens: "the program's goal is edited", Draft: "the next agent is told", Waits: same, Works: same},
	{
		Happens: "its evaluation is edited",
		Draft:   "a new baseline", Waits: "after CI has answered", Works: "at the next iteration",
	},
	{Happens: "its text is broken", Draft: "an error with the line", Waits: same, Works: "the iteration ends first"},
	{
		Happens: "its file is gone, its issue is closed or lost the label",
		Draft:   "it is no program any more; its records stay", Waits: same, Works: "the iteration ends first",
	},
	{Event: Green, Next: Keep, Happens: "CI is green", Waits: "the iteration is kept"},
	{Event: Absent, Next: Keep},
	{
		Event: Red, Next: Fix, But: map[Phase]Step{PausedWaiting: Wait},
		Happens: "CI is red",
		Waits:   "an agent is asked to fix it; after five attempts it is not kept, and the program pauses",
	},
	{Event: Stuck, Next: Drop},
	{Event: Pending, Next: Wait},
	{
		Event: Silent, Next: Pause,
		Happens: "CI never answers, or cannot be read", Waits: "pauses at `ci-timeout`, with what is missing",
	},
}

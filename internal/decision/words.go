package decision

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/metric"
)

const pairs = "median {value} beside {beside}, difference {difference} ({percent} % interval {low} to {high}), p = " +
	"{p}, {count} pairs"

const workflowsCure = "give the secret AUTOLOOP_TOKEN of an App with the permission `workflows`, or of a person with " +
	"the scope `workflow`"

// form is a fact's place in a text, perhaps with words that are left out where it is missing.
var (
	form  = lazyregexp.New(`<[^<>{]*\{\w+\}[^<>]*>|\{\w+\}`)
	place = lazyregexp.New(`\{\w+\}`)
)

// String is the reason for people, in one line: {name} in its text is a fact, and what
// stands between < and > is left out where the fact in it is missing.
func (r Reason) String() string {
	signed, difference, until, because := "…", "…", "…", Texts(r.Because)
	if r.Value != nil {
		signed = r.Value.Signed()
	}
	if r.Value != nil && r.Beside != nil {
		difference = r.Value.Sub(*r.Beside).Signed()
	}
	if r.Until != nil {
		until = r.Until.UTC().Format(time.RFC3339)
	}
	facts := map[string]string{ // "" is one that is missing, "…" a number
		"{path}": r.Path, "{quoted}": quotePath(r.Path), "{term}": r.Term, "{words}": r.Words,
		"{value}": metric.Text(r.Value, ""), "{signed}": signed, "{beside}": metric.Text(r.Beside, "…"),
		"{difference}": difference, "{low}": metric.Text(r.Low, "…"), "{high}": metric.Text(r.High, "…"),
		"{count}": strconv.Itoa(r.Count), "{of}": strconv.Itoa(r.Of), "{p}": fmt.Sprintf("%.2g", r.P),
		"{percent}": fmt.Sprintf("%g", r.Confidence*100), "{until}": until,
		"{because}": strings.Join(because, "; "), "{listed}": strings.Join(because, ", "),
	}
	return form().ReplaceAllStringFunc(texts[r.Kind], func(words string) string {
		name := place().FindString(words)
		if facts[name] == "" {
			return ""
		}
		return strings.Replace(strings.Trim(words, "<>"), name, facts[name], 1)
	})
}

// Text is a reason for people, "" for none.
func Text(r *Reason) string {
	if r == nil {
		return ""
	}
	return r.String()
}

// Texts are reasons for people, a line each.
func Texts(reasons []Reason) []string {
	var lines []string
	for _, r := range reasons {
		lines = append(lines, r.String())
	}
	return lines
}

// Lines are reasons that are told: as JSON they are their texts.
type Lines []Reason

// MarshalJSON writes the texts.
func (l Lines) MarshalJSON() ([]byte, error) {
	return json.Marshal(Texts(l)) //nolint:wrapcheck // they are strings
}

// Joined are reasons for people, in one line.
func Joined(reasons []Reason) string { return strings.Join(Texts(reasons), "; ") }

// texts are the texts of all kinds.
var texts = map[Why]string{
	Said: "{words}",

	First:             "first measurement",
	Tie:               "{value} equals the best so far; only a strict gain is kept",
	Better:            "{value} is better than {beside} ({term} is better)",
	Worse:             "{value} is worse than the best {beside} ({term} is better)",
	TooSmall:          "a gain of {value} is below min-improvement {beside}",
	NotScored:         "not scored: {words}",
	NoNumber:          "not scored: the evaluation printed null",
	Implausible:       "{value} is implausible: outside metric-range [{low}, {high}]",
	Repeated:          "measured again on both sides with the same result",
	Unverified:        "unverified: each side was measured once (evaluation-runs: 1)",
	PairsBetter:       "better: " + pairs,
	PairsWorse:        "worse: " + pairs,
	PairsNotBetter:    "not better: " + pairs,
	PairsInconclusive: "inconclusive: " + pairs,
	PairsNoGain:       "no gain worth keeping: " + pairs,
	EarlyNotBetter:    "not better after {count} pairs: median {value} beside {beside}",
	Confirms:          "this confirms, in new trees, a difference of {signed} (p = {p})",
	NotConfirmed:      "not confirmed: {because}",
	Unfinished:        "the trial was not finished",
	GuardrailMissing:  "guardrail {path}: the evaluation did not print it",
	GuardrailNew:      "guardrail {path}: iteration 0 has no value to compare with",
	GuardrailBroken: "guardrail {path}: {value} is beyond {high} ({beside} at iteration 0, {term} is better, " +
		"at most {low} worse)",
	CasesLost:      "regressed-cases: {words}",
	CasesForbidden: "regressed-cases: {words}; no-case-regression forbids to lose a case that passed",
	IncumbentUnfit: "the incumbent, measured again, is {because}",
	Disagrees: "the incumbent, measured anew, gave {value} (runs: {count}), and {beside} is on record (runs: " +
		"{of}, {high} apart): either the machine changed, or what was kept was luck",
	Flagged:   "{because}",
	SuiteSays: "the suite says {term}",

	DropToZero:     "{beside} → 0 is a drop to zero",
	RiseFromZero:   "0 → {value} is more than {count} times as much",
	Jump:           "{beside} → {value} is a jump beyond {count} times",
	OutlyingGain:   "a gain of {value} is more than {count} times the largest before it ({beside})",
	TooGood:        "{because}: look whether the evaluation still measures what it should",
	HeldBack:       "{because}, so it was held",
	NoticesEmptied: "with the changed files emptied the evaluation notices: {because}",
	NoticesGarbled: "with the changed files emptied the evaluation gives the same, but with a syntax error in " +
		"the changed files it notices: {because}",
	Gives:    "it gives {value}",
	LookAtIt: "look at the change",
	IgnoresEmptied: "the number does not depend on what was measured: with the changed files emptied the " +
		"evaluation gives {value} as well",
	IgnoresGarbled: "the number does not depend on what was measured: with a syntax error in the changed files " +
		"the evaluation gives {value} as well",
	NumbersNeverDiffer: "all {count} numbers of the candidate are {value}, where the incumbent's scatter",

	NoChange:     "no change proposed",
	Refused:      "{quoted}: {words}",
	NotInside:    "{quoted}: is no path inside the repository",
	OfGit:        "{quoted}: belongs to git",
	Protected:    "{quoted}: is protected by the program< ({term})>",
	OfAutoloop:   "{quoted}: belongs to Autoloop< ({term})>",
	OfAutomation: "{quoted}: configures the repository's automation< ({term})>",
	IsProgram:    "{quoted}: is the program itself< ({term})>",
	OfEvaluation: "{quoted}: is named by the evaluation< ({term})>",
	NotTarget:    "{quoted}: is outside the target< ({term})>",
	HasSecret: "{quoted}: has a secret in it, which the environment or a login of this run holds; nothing of " +
		"it is kept",
	MorePaths: "and {count} more",

	AgentFailed:          "agent {path} failed ({term}): {words}",
	NothingLeft:          "the agent left nothing to look at: {words}",
	Unchanged:            "it is the incumbent again, so there is nothing to measure",
	TriedBefore:          "the same change as iteration {count}'s, which was {term}; it was not measured again",
	ProposedTwice:        "the same change as proposal {count}'s; it was not measured again",
	NoTimeLeft:           "not measured: the iteration's time (timeout-minutes) is too short for one more trial",
	ErrorBefore:          "not measured: the trial before it ended in an error",
	BetterProposal:       "better than before, but proposal {count} is better still ({value})",
	ProposalDecided:      "proposal {count} of {of} decided",
	OtherProposal:        "proposal {count} ({path}): {term}< with {value}><: {because}>",
	MoreProposals:        "and {count} more, which the ledger has",
	RepositoryChanged:    "the repository itself was changed {term}: {words}",
	EvaluationFails:      "the evaluation fails: {words}",
	EvaluationHangs:      "the evaluation fails: {words}, and the unchanged files take {value} s",
	FailsUnchanged:       "and on the unchanged files too: {words}",
	BlameUnknown:         "and whether the unchanged files are to blame was not found out: {words}",
	BaselineFails:        "the evaluation fails on the unchanged files: {because}",
	BaselineFailsAtTimes: "the evaluation fails now and then on the unchanged files: {because}",
	NeedsNumber:          "it prints no number {quoted}, which a guardrail needs",
	SuiteFails:           "the suite cannot be run on the unchanged files: {words}",
	SuiteUnfinished:      "the suite was not run to its end: {words}",
	NotMeasured:          "it was not measured to the end: {words}",
	EvaluatorChanged:     "changed the evaluator while it ran: {words}",
	EvaluatorTouched:     "files of the evaluation were changed before it ran: {words}",
	TooManyRuns: "the evaluation is noisy, and {count} pairs of runs with their confirmation take {value} " +
		"minutes ({of} runs of {low} s), more than timeout-minutes {beside}: set `timeout-minutes: {high}`, or " +
		"make the evaluation faster or steadier",
	TooLong:          "the iteration took longer than its timeout-minutes ({term})",
	TooLongForBudget: "the iteration took longer than the {term} that its budget left",
	DiskFull:         "there was no room left on the disk, which the agent or the evaluation may have filled: {words}",
	NotRecorded:      "the proposal was not recorded: {words}",

	StaysOnBranch: "it stays on {path} without a pull request: {term} measures {beside}, which {value} is not " +
		"better than",
	GainNotKept:  "the gain was not kept: {because}",
	CIGreen:      "CI is green: {count} checks",
	CIAsBase:     "CI fails only as the base does: {because}",
	CIFound:      "{words}",
	CINothing:    "no check appeared",
	CIMoved:      "not kept: the branch is {path}, not at {term} any more; the next iteration begins with what is there",
	MergedByHand: "pull request #{count} was merged before CI let it through< ({listed})>",
	MergedWithout: "not kept yet: its pull request was merged without it, so that it is replayed on the " +
		"default branch and measured there",
	CIStuck:     "stuck in CI fix loop: {words}<; {because}>",
	CIExhausted: "ci-fix-exhausted: {words}<; {because}>",
	CITimeout:   "ci-timeout: after {term} CI has no result for {path}: {listed}; {words}, or set `ci-gate: off`",
	AttemptKept: "look at the attempt on {path}",
	AttemptLost: "the attempt, commit {path}, is not kept: {because}",
	Claimed:     "the proposing job says: {because}",

	WasUndone:        "iteration {count} was undone",
	DirectionChanged: "the direction changed from {path} to {term}",
	ProgramChanged:   "the program's evaluation changed",
	BaseMoved:        "the default branch moved on<: {words}>",
	BranchMoved:      "the program branch has commits that are not Autoloop's",
	FilesChanged:     "files of the evaluation changed",
	ExecutorChanged:  "{words}",
	OffRecord:        "the incumbent was not what is on record",
	TurnedNoisy:      "the evaluation turned out noisy",

	ManyErrors:         "{count} errors in a row, the last: {because}; see the history and fix the cause",
	Plateau:            "plateau: {count} rejections in a row; change the goal or the target",
	Interrupted:        "iteration {count} was interrupted {of} times in a row: look at the logs of those runs",
	Conflict:           "{term} does not merge into {path}, both changed {words}: merge it by hand, then resume",
	PullClosed:         "pull request #{count} closed; the next gain opens a new one",
	PullReopened:       "pull request #{count} was opened again",
	PushNeedsWorkflows: "{words}: " + workflowsCure + ", or take `.github/workflows` out of the Target",
	PushNeedsMerge: "the default branch has to be merged into {path} for it ({words}), which the token may not " +
		"push because of workflow files: " + workflowsCure,
	PushProtected: "{words}: leave `autoloop/**` out of the branch's rules, or let them except the token",
	PushHook:      "{words}: let the server's hook take pushes of `autoloop/**` and `memory/autoloop`",
	PushRefused:   "{words}: look at what the remote allows the token on this branch",
	UndoRefused:   "{because}; then ask for the undo again",
	AskedBy:       "asked for by {path}",
	PausedBy:      "by a comment of {path}",
	EditedInState: "edited in the state",
	TargetReached: "target reached: {value} with target {beside} ({term} is better)",
	RateLimit:     "paused: the agent's service has a rate limit< ({words})>; it resumes at {until}",
}

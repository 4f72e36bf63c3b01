package decision

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// text is how a kind is told. {name} is a fact of the reason, and what stands between
// < and > is left out where a fact in it is missing. The cure, which goes on after it, is
// what a person does about it.
type text struct{ says, cure string }

const pairs = "median {value} beside {beside}, difference {difference} ({percent} % interval {low} to {high}), p = " +
	"{p}, {count} pairs"

const workflowsCure = "give the secret AUTOLOOP_TOKEN of an App with the permission `workflows`, or of a person with " +
	"the scope `workflow`"

// String is the reason for people, in one line.
func (r Reason) String() string {
	told := texts[r.Kind]
	return r.fill(told.says + told.cure)
}

// fill puts the facts into a text.
func (r Reason) fill(says string) string {
	var out strings.Builder
	for says != "" {
		at := strings.IndexAny(says, "{<")
		if at < 0 {
			at = len(says)
		}
		out.WriteString(says[:at])
		if says = says[at:]; says == "" {
			break
		}
		if group, rest, _ := strings.Cut(says[1:], ">"); says[0] == '<' {
			if name, _, _ := strings.Cut(group[strings.IndexByte(group, '{')+1:], "}"); r.fact(name) != "" {
				out.WriteString(r.fill(group))
			}
			says = rest
			continue
		}
		name, rest, _ := strings.Cut(says[1:], "}")
		out.WriteString(r.fact(name))
		says = rest
	}
	return out.String()
}

// fact is a fact of the reason as it is told; "" for one that is missing, "…" for a number.
func (r Reason) fact(name string) string {
	switch name {
	case "path":
		return r.Path
	case "quoted":
		return quotePath(r.Path)
	case "term":
		return r.Term
	case "value":
		return metric.Text(r.Value, "")
	case "signed":
		return signed(r.Value)
	case "beside":
		return metric.Text(r.Beside, "…")
	case "difference":
		if r.Value == nil || r.Beside == nil {
			return "…"
		}
		return r.Value.Sub(*r.Beside).Signed()
	case "low":
		return metric.Text(r.Low, "…")
	case "high":
		return metric.Text(r.High, "…")
	case "count":
		return strconv.Itoa(r.Count)
	case "of":
		return strconv.Itoa(r.Of)
	case "p":
		return fmt.Sprintf("%.2g", r.P)
	case "percent":
		return fmt.Sprintf("%g", r.Confidence*100)
	case "until":
		if r.Until == nil {
			return "…"
		}
		return r.Until.UTC().Format(time.RFC3339)
	case "words":
		return r.Words
	case "because":
		return Joined(r.Because)
	default: // listed
		return strings.Join(Texts(r.Because), ", ")
	}
}

func signed(v *metric.Value) string {
	if v == nil {
		return "…"
	}
	return v.Signed()
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
var texts = map[Why]text{
	Said: {says: "{words}"},

	First:             {says: "first measurement"},
	Tie:               {says: "{value} equals the best so far; only a strict gain is kept"},
	Better:            {says: "{value} is better than {beside} ({term} is better)"},
	Worse:             {says: "{value} is worse than the best {beside} ({term} is better)"},
	TooSmall:          {says: "a gain of {value} is below min-improvement {beside}"},
	NotScored:         {says: "not scored: {words}"},
	NoNumber:          {says: "not scored: the evaluation printed null"},
	Implausible:       {says: "{value} is implausible: outside metric-range [{low}, {high}]"},
	Repeated:          {says: "measured again on both sides with the same result"},
	Unverified:        {says: "unverified: each side was measured once (evaluation-runs: 1)"},
	PairsBetter:       {says: "better: " + pairs},
	PairsWorse:        {says: "worse: " + pairs},
	PairsNotBetter:    {says: "not better: " + pairs},
	PairsInconclusive: {says: "inconclusive: " + pairs},
	PairsNoGain:       {says: "no gain worth keeping: " + pairs},
	EarlyNotBetter:    {says: "not better after {count} pairs: median {value} beside {beside}"},
	Confirms:          {says: "this confirms, in new trees, a difference of {signed} (p = {p})"},
	NotConfirmed:      {says: "not confirmed: {because}"},
	Unfinished:        {says: "the trial was not finished"},
	GuardrailMissing:  {says: "guardrail {path}: the evaluation did not print it"},
	GuardrailNew:      {says: "guardrail {path}: iteration 0 has no value to compare with"},
	GuardrailBroken: {says: "guardrail {path}: {value} is beyond {high} ({beside} at iteration 0, {term} is " +
		"better, at most {low} worse)"},
	CasesLost:      {says: "regressed-cases: {words}"},
	CasesForbidden: {says: "regressed-cases: {words}; no-case-regression forbids to lose a case that passed"},
	IncumbentUnfit: {says: "the incumbent, measured again, is {because}"},
	Disagrees: {
		says: "the incumbent, measured anew, gave {value} (runs: {count}), and {beside} is on record (runs: {of}, " +
			"{high} apart): " +
			"either the machine changed, or what was kept was luck",
	},
	Flagged:   {says: "{because}"},
	SuiteSays: {says: "the suite says {term}"},

	DropToZero:     {says: "{beside} → 0 is a drop to zero"},
	RiseFromZero:   {says: "0 → {value} is more than {count} times as much"},
	Jump:           {says: "{beside} → {value} is a jump beyond {count} times"},
	OutlyingGain:   {says: "a gain of {value} is more than {count} times the largest before it ({beside})"},
	TooGood:        {says: "{because}", cure: ": look whether the evaluation still measures what it should"},
	HeldBack:       {says: "{because}, so it was held"},
	NoticesEmptied: {says: "with the changed files emptied the evaluation notices: {because}"},
	NoticesGarbled: {says: "with the changed files emptied the evaluation gives the same, but with a syntax " +
		"error in the changed files it notices: {because}"},
	Gives:    {says: "it gives {value}"},
	LookAtIt: {says: "look at the change"},
	IgnoresEmptied: {says: "the number does not depend on what was measured: with the changed files emptied the " +
		"evaluation gives {value} as well"},
	IgnoresGarbled: {says: "the number does not depend on what was measured: with a syntax error in the changed " +
		"files the evaluation gives {value} as well"},
	NumbersNeverDiffer: {says: "all {count} numbers of the candidate are {value}, where the incumbent's scatter"},

	NoChange:     {says: "no change proposed"},
	Refused:      {says: "{quoted}: {words}"},
	NotInside:    {says: "{quoted}: is no path inside the repository"},
	OfGit:        {says: "{quoted}: belongs to git"},
	Protected:    {says: "{quoted}: is protected by the program< ({term})>"},
	OfAutoloop:   {says: "{quoted}: belongs to Autoloop< ({term})>"},
	OfAutomation: {says: "{quoted}: configures the repository's automation< ({term})>"},
	IsProgram:    {says: "{quoted}: is the program itself< ({term})>"},
	OfEvaluation: {says: "{quoted}: is named by the evaluation< ({term})>"},
	NotTarget:    {says: "{quoted}: is outside the target< ({term})>"},
	HasSecret: {says: "{quoted}: has a secret in it, which the environment or a login of this run holds; nothing " +
		"of it is kept"},
	MorePaths: {says: "and {count} more"},

	AgentFailed:          {says: "agent {path} failed ({term}): {words}"},
	NothingLeft:          {says: "the agent left nothing to look at: {words}"},
	Unchanged:            {says: "it is the incumbent again, so there is nothing to measure"},
	TriedBefore:          {says: "the same change as iteration {count}'s, which was {term}; it was not measured again"},
	ProposedTwice:        {says: "the same change as proposal {count}'s; it was not measured again"},
	NoTimeLeft:           {says: "not measured: the iteration's time (timeout-minutes) is too short for one more trial"},
	ErrorBefore:          {says: "not measured: the trial before it ended in an error"},
	BetterProposal:       {says: "better than before, but proposal {count} is better still ({value})"},
	ProposalDecided:      {says: "proposal {count} of {of} decided"},
	OtherProposal:        {says: "proposal {count} ({path}): {term}< with {value}><: {because}>"},
	MoreProposals:        {says: "and {count} more, which the ledger has"},
	RepositoryChanged:    {says: "the repository itself was changed {term}: {words}"},
	EvaluationFails:      {says: "the evaluation fails: {words}"},
	EvaluationHangs:      {says: "the evaluation fails: {words}, and the unchanged files take {value} s"},
	FailsUnchanged:       {says: "and on the unchanged files too: {words}"},
	BlameUnknown:         {says: "and whether the unchanged files are to blame was not found out: {words}"},
	BaselineFails:        {says: "the evaluation fails on the unchanged files: {because}"},
	BaselineFailsAtTimes: {says: "the evaluation fails now and then on the unchanged files: {because}"},
	NeedsNumber:          {says: "it prints no number {quoted}, which a guardrail needs"},
	SuiteFails:           {says: "the suite cannot be run on the unchanged files: {words}"},
	SuiteUnfinished:      {says: "the suite was not run to its end: {words}"},
	NotMeasured:          {says: "it was not measured to the end: {words}"},
	EvaluatorChanged:     {says: "changed the evaluator while it ran: {words}"},
	EvaluatorUnsure:      {says: "whether it changed the evaluator while it ran was not found out: {words}"},
	EvaluatorTouched:     {says: "files of the evaluation were changed before it ran: {words}"},
	TooManyRuns: {
		says: "the evaluation is noisy, and {count} pairs of runs with their confirmation take {value} minutes ({of} " +
			"runs of {low} s), more than timeout-minutes {beside}: " +
			"set `timeout-minutes: {high}`, or make the evaluation faster or steadier",
	},
	TooLong:          {says: "the iteration took longer than its timeout-minutes ({term})"},
	TooLongForBudget: {says: "the iteration took longer than the {term} that its budget left"},
	TimeUp:           {says: "the time of the iteration is up"},
	DiskFull: {says: "there was no room left on the disk, which the agent or the evaluation may have filled: " +
		"{words}"},
	NotRecorded: {says: "the proposal was not recorded: {words}"},

	StaysOnBranch: {says: "it stays on {path} without a pull request: {term} measures {beside}, which {value} is not " +
		"better than"},
	GainNotKept:  {says: "the gain was not kept: {because}"},
	FixesCI:      {says: "CI fix {count}: {words}"},
	CIGreen:      {says: "CI is green: {count} checks"},
	CIAsBase:     {says: "CI fails only as the base does: {because}"},
	CIFound:      {says: "{words}"},
	CINothing:    {says: "no check appeared"},
	CIMoved:      {says: "not kept: {listed}; the next iteration begins with what is there"},
	MergedByHand: {says: "pull request #{count} was merged before CI let it through< ({listed})>"},
	MergedWithout: {says: "not kept yet: its pull request was merged without it, so that it is replayed on the " +
		"default branch and measured there"},
	CIStuck:     {says: "stuck in CI fix loop: {words}<; {because}>"},
	CIExhausted: {says: "ci-fix-exhausted: {words}<; {because}>"},
	CITimeout: {
		says: "ci-timeout: after {term} CI has no result for {path}: {listed}",
		cure: "; {words}, or set `ci-gate: off`",
	},
	AttemptKept: {says: "look at the attempt on {path}"},
	AttemptLost: {says: "the attempt, commit {path}, is not kept: {because}"},
	Claimed:     {says: "the proposing job says: {because}"},

	WasUndone:        {says: "iteration {count} was undone"},
	DirectionChanged: {says: "the direction changed from {path} to {term}"},
	ProgramChanged:   {says: "the program's evaluation changed"},
	BaseMoved:        {says: "the default branch moved on<: {words}>"},
	BranchMoved:      {says: "the program branch has commits that are not Autoloop's"},
	FilesChanged:     {says: "files of the evaluation changed"},
	ExecutorChanged:  {says: "{words}"},
	OffRecord:        {says: "the incumbent was not what is on record"},
	TurnedNoisy:      {says: "the evaluation turned out noisy"},

	ManyErrors: {
		says: "{count} errors in a row, the last: {because}",
		cure: "; see the history and fix the cause",
	},
	Plateau: {says: "plateau: {count} rejections in a row", cure: "; change the goal or the target"},
	Interrupted: {
		says: "iteration {count} was interrupted {of} times in a row",
		cure: ": look at the logs of those runs",
	},
	Conflict: {
		says: "{term} does not merge into {path}, both changed {words}",
		cure: ": merge it by hand, then resume",
	},
	PullClosed:   {says: "pull request #{count} closed", cure: "; the next gain opens a new one"},
	PullReopened: {says: "pull request #{count} was opened again"},
	PushNeedsWorkflows: {
		says: "{words}",
		cure: ": " + workflowsCure + ", or take `.github/workflows` out of the Target",
	},
	PushNeedsMerge: {
		says: "the default branch has to be merged into {path} for it ({words}), which the token may not push " +
			"because of workflow files", cure: ": " + workflowsCure,
	},
	PushProtected: {
		says: "{words}",
		cure: ": leave `autoloop/**` out of the branch's rules, or let them except the token",
	},
	PushHook: {
		says: "{words}",
		cure: ": let the server's hook take pushes of `autoloop/**` and `memory/autoloop`",
	},
	PushRefused:   {says: "{words}", cure: ": look at what the remote allows the token on this branch"},
	UndoRefused:   {says: "{because}", cure: "; then ask for the undo again"},
	AskedBy:       {says: "asked for by {path}"},
	PausedBy:      {says: "by a comment of {path}"},
	EditedInState: {says: "edited in the state"},
	TargetReached: {says: "target reached: {value} with target {beside} ({term} is better)"},
	RateLimit:     {says: "paused: the agent's service has a rate limit< ({words})>; it resumes at {until}"},
}

package decision

import (
	"slices"
	"time"

	"github.com/org/autoloop/internal/lists"
	"github.com/org/autoloop/internal/metric"
)

// Why is the kind of a Reason.
type Why string

// Reason is how a fact travels: a kind with fixed fields. Its text is made by String
// and never read back.
type Reason struct {
	// Kind is the fact's kind.
	Kind Why `json:"kind"`
	// Path is what it is about, such as a file or a case.
	Path string `json:"path,omitempty"`
	// Term is one of few words, such as a direction or an outcome.
	Term string `json:"term,omitempty"`
	// Value is the number that was measured.
	Value *metric.Value `json:"value,omitempty"`
	// Beside is the number that Value is held against.
	Beside *metric.Value `json:"beside,omitempty"`
	// Low is a lower bound.
	Low *metric.Value `json:"low,omitempty"`
	// High is an upper bound.
	High *metric.Value `json:"high,omitempty"`
	// Count is a number of things.
	Count int `json:"count,omitempty"`
	// Of is how many there are of which Count is a part.
	Of int `json:"of,omitempty"`
	// P is the probability of such a difference by chance.
	P float64 `json:"p,omitempty"`
	// Confidence is what the difference needed.
	Confidence float64 `json:"confidence,omitempty"`
	// Until is when it ends by itself.
	Until *time.Time `json:"until,omitempty"`
	// Words are somebody else's text.
	Words string `json:"words,omitempty"`
	// Because are the reasons that it follows from.
	Because []Reason `json:"because,omitempty"`
}

// Is reports whether the reason is of one of these kinds.
func (r Reason) Is(kinds ...Why) bool { return slices.Contains(kinds, r.Kind) }

// Known reports whether the reason and those that it follows from are of kinds that
// exist, one below the other at most so often.
func (r Reason) Known(deep int) bool {
	_, known := texts[r.Kind]
	return known && deep > 0 && !slices.ContainsFunc(r.Because, func(b Reason) bool { return !b.Known(deep - 1) })
}

// Say is a reason in somebody else's words.
func Say(words string) Reason { return Reason{Kind: Said, Words: words} }

// Says is a reason of this kind in somebody else's words.
func (w Why) Says(words string) Reason { return Reason{Kind: w, Words: words} }

// Because is a reason with those below it.
func (w Why) Because(reasons ...Reason) Reason { return Reason{Kind: w, Because: reasons} }

// Counts is a reason with a number.
func (w Why) Counts(n int) Reason { return Reason{Kind: w, Count: n} }

// Says are reasons in somebody else's words.
func Says(lines ...string) []Reason {
	return lists.Map(lines, Say)
}

// Said is a reason that has nothing but somebody else's words.
const Said Why = "said"

// What a comparison of numbers found.
const (
	First             Why = "first"              // nothing was measured before
	Tie               Why = "tie"                // the numbers are equal
	Better            Why = "better"             // strictly better
	Worse             Why = "worse"              // worse
	TooSmall          Why = "too-small"          // a gain below min-improvement
	NotScored         Why = "not-scored"         // the evaluation gave no number, and said why
	NoNumber          Why = "no-number"          // the evaluation gave no number
	Implausible       Why = "implausible"        // outside metric-range
	Repeated          Why = "repeated"           // both sides gave the same once more
	Unverified        Why = "unverified"         // evaluation-runs is 1
	PairsBetter       Why = "pairs-better"       // better, and not by chance
	PairsWorse        Why = "pairs-worse"        // worse, and not by chance
	PairsNotBetter    Why = "pairs-not-better"   // the median is not better
	PairsInconclusive Why = "pairs-inconclusive" // may be chance, and may be a gain
	PairsNoGain       Why = "pairs-no-gain"      // may be chance, and is no gain worth keeping
	EarlyNotBetter    Why = "early-not-better"   // ended early, since the median is not better
	Confirms          Why = "confirms"           // the stage before found a gain too
	NotConfirmed      Why = "not-confirmed"      // the stage before found a gain, and this one did not
	Unfinished        Why = "unfinished"         // the trial has no decision
	GuardrailMissing  Why = "guardrail-missing"  // the evaluation did not print it
	GuardrailNew      Why = "guardrail-new"      // iteration 0 did not have it
	GuardrailBroken   Why = "guardrail-broken"   // beyond what it allows
	CasesLost         Why = "cases-lost"         // cases that passed do not any more
	CasesForbidden    Why = "cases-forbidden"    // the same, which the program forbids
	IncumbentUnfit    Why = "incumbent-unfit"    // the incumbent could not be measured again
	Disagrees         Why = "disagrees"          // the incumbent is not what is on record
	Flagged           Why = "flagged"            // what a person should look at
	SuiteSays         Why = "suite-says"         // a suite's verdict
)

// What makes a gain too good to be believed at once, and what came of looking.
const (
	DropToZero         Why = "drop-to-zero"         // the number is 0
	RiseFromZero       Why = "rise-from-zero"       // the number was 0
	Jump               Why = "jump"                 // many times the number before
	OutlyingGain       Why = "outlying-gain"        // many times the largest gain before
	TooGood            Why = "too-good"             // nobody looked
	HeldBack           Why = "held-back"            // it was held, and turned down
	NoticesEmptied     Why = "notices-emptied"      // the evaluation notices emptied files
	NoticesGarbled     Why = "notices-garbled"      // it notices a syntax error, and emptied files not
	Gives              Why = "gives"                // the number that it gave then
	LookAtIt           Why = "look-at-it"           // what a person should do
	IgnoresEmptied     Why = "ignores-emptied"      // it measures nothing: emptied files are the same to it
	IgnoresGarbled     Why = "ignores-garbled"      // it measures nothing: a syntax error is the same to it
	NumbersNeverDiffer Why = "numbers-never-differ" // where the incumbent's scatter
)

// What the guard found.
const (
	NoChange     Why = "no-change"     // the candidate is the incumbent
	Refused      Why = "refused"       // no candidate may contain such a path
	NotInside    Why = "not-inside"    // no path of the repository
	OfGit        Why = "of-git"        // belongs to git
	Protected    Why = "protected"     // protected by the program
	OfAutoloop   Why = "of-autoloop"   // below .autoloop
	OfAutomation Why = "of-automation" // below .github
	IsProgram    Why = "is-program"    // the program's own file
	OfEvaluation Why = "of-evaluation" // a file that the evaluation names
	NotTarget    Why = "not-target"    // outside the target
	HasSecret    Why = "has-secret"    // a secret of this run is in it
	MorePaths    Why = "more-paths"    // paths that are not listed
)

// What ended an attempt before it was decided.
const (
	AgentFailed          Why = "agent-failed"            // the agent did not do its work
	NothingLeft          Why = "nothing-left"            // its tree cannot be looked at
	Unchanged            Why = "unchanged"               // git sees no difference to the incumbent
	TriedBefore          Why = "tried-before"            // an earlier iteration's change
	ProposedTwice        Why = "proposed-twice"          // the same as another proposal
	NoTimeLeft           Why = "no-time-left"            // another trial would take too long
	ErrorBefore          Why = "error-before"            // the trial before it ended in an error
	BetterProposal       Why = "better-proposal"         // another proposal is better still
	ProposalDecided      Why = "proposal-decided"        // which of several decided
	OtherProposal        Why = "other-proposal"          // what became of another one
	MoreProposals        Why = "more-proposals"          // proposals that are not listed
	RepositoryChanged    Why = "repository-changed"      // settings, hooks or a ref of the repository
	EvaluationFails      Why = "evaluation-fails"        // of the candidate
	EvaluationHangs      Why = "evaluation-hangs"        // of the candidate, for its time
	FailsUnchanged       Why = "fails-unchanged"         // of the incumbent too
	BlameUnknown         Why = "blame-unknown"           // the incumbent was not measured
	BaselineFails        Why = "baseline-fails"          // of the unchanged files
	BaselineFailsAtTimes Why = "baseline-fails-at-times" // of the unchanged files, now and then
	NeedsNumber          Why = "needs-number"            // the number of a guardrail is missing
	SuiteFails           Why = "suite-fails"             // a suite on the unchanged files
	SuiteUnfinished      Why = "suite-unfinished"        // a suite that was not run to its end
	NotMeasured          Why = "not-measured"            // not measured to the end
	EvaluatorChanged     Why = "evaluator-changed"       // by the candidate, while it ran
	EvaluatorTouched     Why = "evaluator-touched"       // by somebody else
	TooManyRuns          Why = "too-many-runs"           // repeats do not fit the time
	TooLong              Why = "too-long"                // timeout-minutes is over
	TooLongForBudget     Why = "too-long-for-budget"     // the budget's minutes are over
	DiskFull             Why = "disk-full"               // no room on a disk
	NotRecorded          Why = "not-recorded"            // verification refused the proposal
)

// What came after a decision.
const (
	StaysOnBranch Why = "stays-on-branch" // not better than the default branch
	GainNotKept   Why = "gain-not-kept"   // the remote refused it
	CIGreen       Why = "ci-green"        // CI let it through
	CIAsBase      Why = "ci-as-base"      // CI let it through, since the base fails in the same way
	CIFound       Why = "ci-found"        // one thing that CI found; Term is its kind
	CINothing     Why = "ci-nothing"      // no check appeared
	CIMoved       Why = "ci-moved"        // the branch moved while CI ran
	MergedByHand  Why = "merged-by-hand"  // a person merged it before CI let it through
	MergedWithout Why = "merged-without"  // its pull request was merged without it
	CIStuck       Why = "ci-stuck"        // a fix did not help
	CIExhausted   Why = "ci-exhausted"    // no fix is left
	CITimeout     Why = "ci-timeout"      // CI has no result
	AttemptKept   Why = "attempt-kept"    // the branch with what CI turned down
	AttemptLost   Why = "attempt-lost"    // it could not be kept
	Claimed       Why = "claimed"         // of another job, and not computed here
)

// Why a baseline is measured, besides First.
const (
	WasUndone        Why = "was-undone"        // an iteration was undone
	DirectionChanged Why = "direction-changed" // of the metric
	ProgramChanged   Why = "program-changed"   // its evaluation
	BaseMoved        Why = "base-moved"        // the default branch
	BranchMoved      Why = "branch-moved"      // the program branch has commits of others
	FilesChanged     Why = "files-changed"     // those of the evaluation
	ExecutorChanged  Why = "executor-changed"  // who works on a suite, or grades
	OffRecord        Why = "off-record"        // the incumbent, several times
	TurnedNoisy      Why = "turned-noisy"      // two equal runs gave two numbers
)

// Why a program takes no iteration, and why it goes on.
const (
	ManyErrors         Why = "many-errors"          // errors in a row
	Plateau            Why = "plateau"              // rejections in a row
	Interrupted        Why = "interrupted"          // runs that vanish
	Conflict           Why = "conflict"             // the default branch does not merge
	PullClosed         Why = "pull-closed"          // a person closed the pull request
	PullReopened       Why = "pull-reopened"        // and opened it again
	PushNeedsWorkflows Why = "push-needs-workflows" // the token may not push workflow files
	PushNeedsMerge     Why = "push-needs-merge"     // nor merge the default branch that has them
	PushProtected      Why = "push-protected"       // rules of the branch
	PushHook           Why = "push-hook"            // a hook of the server
	PushRefused        Why = "push-refused"         // the remote, for another reason
	UndoRefused        Why = "undo-refused"         // the remote did not take an undo
	AskedBy            Why = "asked-by"             // a person's command
	PausedBy           Why = "paused-by"            // a person's command without a reason
	EditedInState      Why = "edited-in-state"      // a person's edit
	TargetReached      Why = "target-reached"       // the program is done
	RateLimit          Why = "rate-limit"           // of the agent's service
)

package cure

// The codes: the first two digits are the subject.
const (
	Interrupted Code = "AL0101" // the runs of an iteration keep vanishing
	CITimeout   Code = "AL0102" // CI gave no result in time
	CIFixes     Code = "AL0103" // CI fails whatever the agent does
	UnknownCost Code = "AL0104" // an agent does not say what it costs

	Unreadable Code = "AL0201" // a record on the memory branch cannot be read
	Disagree   Code = "AL0202" // records and ledger differ
	LeaseLost  Code = "AL0203" // another run took the program over

	PushRefused    Code = "AL0301" // the remote does not take what was kept
	WorkflowRights Code = "AL0302" // the token may not push workflow files

	NoMetric    Code = "AL0401" // an evaluation printed no number
	Independent Code = "AL0402" // the number does not depend on the files
	NoIsolation Code = "AL0403" // isolation does not work here
	Secret      Code = "AL0404" // a candidate has a secret in it
	ToolRefused Code = "AL0405" // the agent's settings forbid what it needs
	BadAnswer   Code = "AL0406" // a model API answered something else
	NoAgent     Code = "AL0407" // nobody can propose changes here

	JudgeSilent     Code = "AL0501" // the judge of a suite does not answer
	GraderSilent    Code = "AL0502" // the grader of a skill does not answer
	MergeConflict   Code = "AL0503" // a skill and its version changed in the same place
	SnapshotAltered Code = "AL0504" // a snapshot is not what was written

	BundleRefused Code = "AL0601" // what another job proposed is not recorded
	NoStart       Code = "AL0602" // a job works without a recorded start

	NotVisible         Code = "AL0701" // the token does not see it, or it is not there
	NoPermission       Code = "AL0702" // the token may not do it
	WorkflowNotStarted Code = "AL0703" // CI could not be started
	RateLimit          Code = "AL0704" // GitHub answers no more for a while

	Fault Code = "AL0901" // a fault of Autoloop
)

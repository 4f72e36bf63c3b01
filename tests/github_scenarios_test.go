package tests

import "testing"

// scenario is what people, CI and the binaries do with a repository, on
// whichever server.
type scenario struct {
	name string
	play func(t *testing.T, on maker)
}

// scenarios are those that run on our own server and on the emulator by others.
// What the emulator does not have runs on our own server alone, in tests of
// their own: reactions, commit statuses, answers 304, the dispatch of
// workflows, variables, permissions of tokens, rate limits and faults.
func scenarios() []scenario {
	return []scenario{
		{"a program's whole life", aProgramsWholeLife},
		{"CI is waited for across runs", ciIsWaitedForAcrossRuns},
		{"red is fixed by the agent", redIsFixedByTheAgent},
		{"a failure of the base is not the candidate's", aFailureOfTheBaseIsNotTheCandidates},
		{"the same failure twice is stuck", theSameFailureTwiceIsStuck},
		{"maintainers steer by comments", maintainersSteerByComments},
		{"a closed pull request waits for a person", aClosedPullRequestWaitsForAPerson},
		{"a paused program hears", aPausedProgramHears},
		{"title and body may be edited", titleAndBodyMayBeEdited},
		{"strangers are not run", strangersAreNotRun},
		{"a token that is printed is masked", aTokenThatIsPrintedIsMasked},
		{"programs are found on all pages", programsAreFoundOnAllPages},
		{"the issue of a file program is adopted", theIssueOfAFileProgramIsAdopted},
		{"a fork's pull request is not ours", aForksPullRequestIsNotOurs},
		{"prune removes what gone programs left", pruneRemovesWhatGoneProgramsLeft},
	}
}

func TestScenariosOnOurServer(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.play(t, onOurServer)
		})
	}
}

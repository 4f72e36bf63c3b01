package taskrun

import "github.com/org/autoloop/internal/suite/format"

// outcome puts the records of one side together.
func (s *session) outcome(side role, repeats int, judged map[unit]*format.Judgement) format.SuiteOutcome {
	outcome := format.SuiteOutcome{ConfigLabel: s.sides[side].Label, Stochastic: s.stochastic()}
	for i, task := range s.tasks {
		timed := s.timed(i, repeats)
		scored := format.Score{TaskID: task.ID}
		if task.Rubric != nil {
			scored.JudgeWeight = task.Rubric.Weight
		}
		for k := range repeats {
			u := unit{i, side, k}
			r := s.records[u]
			run := format.Run{
				Objective: format.Passed(r.passed(), len(r.Checks)), Judge: judged[u], Cost: r.Cost, Checks: r.Checks,
				Failure: r.Failure, Transcript: r.file(transcriptFile), Diff: r.file(diffFile),
			}
			if !timed {
				run.Cost.WallClockMs = nil
			}
			scored.Runs = append(scored.Runs, run)
		}
		outcome.Scores = append(outcome.Scores, scored)
	}
	return outcome
}

// stochastic is what is known about chance: false only when two runs of
// everything came to the same.
func (s *session) stochastic() *bool {
	const enough = 2
	if !s.varies && (!s.auto || s.repeatsMade() < enough) {
		return nil
	}
	return new(s.varies)
}

// repeatsMade is how many runs of each task there are on each side.
func (s *session) repeatsMade() int {
	return len(s.records) / max(1, len(s.units(1)))
}

// timed reports whether the time that a task's runs took tells configurations
// apart: only where chance is averaged out, and between runs that were made side
// by side.
func (s *session) timed(task, repeats int) bool {
	if repeats < 2 { //nolint:mnd // one run is no sample
		return false
	}
	made := s.records[unit{task, theBaseline, 0}].Session
	for u, r := range s.records {
		if u.task == task && r.Session != made {
			return false
		}
	}
	return true
}

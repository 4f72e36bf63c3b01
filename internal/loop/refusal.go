package loop

import "cmp"

// Refusing is the service where an iteration cannot begin: what it runs or proposes is an error of
// the program with that reason. It counts as a run, so that others get their turn, and the
// third in a row pauses the program. What comes before an iteration, such as reading CI, is
// done. Nothing moves the program branch, so it does not matter that somebody works on it.
func (s *Service) Refusing(reason string) *Service {
	own := s.without()
	own.refusal = reason
	return own
}

// without is the service where the program's agent does not work.
func (s *Service) without() *Service {
	own := *s
	own.Agents, own.absent = nil, cmp.Or(s.Program.Agent, "none")
	return &own
}

package ci

import (
	"fmt"
	"slices"
)

// expectation is a check that the commit has to have.
type expectation struct {
	name string
	app  int64
	// anyApp says that it does not matter who reports it.
	anyApp bool
	// proof says that only a success will do: it succeeded on the base, so that
	// skipping it here would prove nothing.
	proof bool
	why   string
}

// expected are the checks that the rules require, those that succeeded on the
// base, and those that still run there and may succeed.
func expected(base []Check, rules Rules) []expectation {
	var list []expectation
	for _, r := range rules.Required {
		list = append(list, expectation{
			name: r.Name, app: r.App, anyApp: r.App == 0,
			why: "is required by the rules of the target branch",
		})
	}
	for _, check := range base {
		e := expectation{name: check.Name, app: check.App, proof: check.success(), why: "succeeded on the base"}
		switch {
		case check.Status == "queued", check.Status == "in_progress":
			e.why = "still runs on the base"
		case !check.success():
			continue
		}
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	return list
}

func (e expectation) matches(c Check) bool { return c.Name == e.name && (e.anyApp || c.App == e.app) }

// expectations notes the expected checks that are missing or prove nothing and,
// where nothing else is in the way, that nothing succeeded of what was expected.
func (v *judgement) expectations(head []Check, list []expectation, starts bool) {
	proven := len(list) == 0 && slices.ContainsFunc(head, Check.success)
	for _, e := range list {
		of := slices.DeleteFunc(slices.Clone(head), func(c Check) bool { return !e.matches(c) })
		proven = proven || slices.ContainsFunc(of, Check.success)
		v.expect(e, of)
	}
	unknown := !slices.ContainsFunc(list, func(e expectation) bool { return e.proof })
	switch {
	case slices.ContainsFunc(v.Reasons, Reason.blocks):
	case !proven && len(head) == 0:
		v.add(NoSuccess, "", "there is no check yet")
	case !proven:
		v.add(NoSuccess, "", "no check succeeded: those that are skipped, neutral or fail on the base prove nothing")
	case unknown && starts && !slices.ContainsFunc(head, func(c Check) bool { return c.Workflow && c.success() }):
		v.add(NoSuccess, "", "a workflow of the repository starts on this change, and no job of a workflow succeeded yet")
	}
}

// expect holds the checks of one expectation against it. Those that run or
// failed are noted elsewhere.
func (v *judgement) expect(e expectation, of []Check) {
	if len(of) == 0 {
		v.add(Missing, e.name, fmt.Sprintf("%s %s and did not run here", e.name, e.why))
		return
	}
	for _, check := range of {
		switch {
		case check.bad() && !slices.ContainsFunc(v.Failing, check.is):
			v.add(Unproven, e.name, fmt.Sprintf("%s %s and fails, here and on the base", e.name, e.why))
		case check.good() && e.proof && !slices.ContainsFunc(of, Check.success):
			v.add(Unproven, e.name, fmt.Sprintf("%s %s and is %s here", e.name, e.why, check.Conclusion))
		}
	}
}

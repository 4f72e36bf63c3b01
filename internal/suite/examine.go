package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/autoloop/internal/plain"
)

// Finding is one reason why an eval suite cannot tell a good skill from a bad
// one.
type Finding struct {
	// Case is the id of the case, "" for the suite.
	Case string `json:"case"`
	// Kind names the finding: few-cases, no-check, idle, vacuous, duplicate,
	// answer-in-prompt, no-triggers or one-sided.
	Kind string `json:"kind"`
	// Message says in one line what it is, and what to do.
	Message string `json:"message"`
}

const (
	// fewCases is how many cases are too few to tell a gain from chance.
	fewCases = 3
	// shortestAnswer is how long a text is that is no part of a prompt by chance.
	shortestAnswer = 5
)

// Examine looks for what keeps a suite from telling good from bad; no triggers are a
// skill without trigger queries.
func Examine(cases, triggers []Case) []Finding {
	d := &doctor{}
	if len(cases) < fewCases {
		d.say("", "few-cases", "there are %d cases; with fewer than %d a single answer decides: write more, of "+
			"different kinds", len(cases), fewCases)
	}
	prompts := map[string]string{}
	for _, c := range cases {
		prompt := folded(c.Prompt)
		if first, twice := prompts[prompt]; twice {
			d.say(c.ID, "duplicate", "it has the prompt of case %s: it counts twice and tells nothing more", first)
		} else {
			prompts[prompt] = c.ID
		}
		d.examine(c, prompt)
	}
	d.triggers(triggers)
	return d.findings
}

type doctor struct{ findings []Finding }

func (d *doctor) say(id, kind, format string, args ...any) {
	d.findings = append(d.findings, Finding{Case: id, Kind: kind, Message: fmt.Sprintf(format, args...)})
}

// examine looks at one case.
func (d *doctor) examine(c Case, prompt string) {
	if len(c.Checks) == 0 {
		d.say(c.ID, "no-check", "it has no deterministic check: its score depends on a grader's opinion alone; check "+
			"a file, a field or a text")
	}
	idle := len(c.Expectations) == 0
	for _, check := range c.Checks {
		idle = idle && check.Kind == OutputNotExists
		if why := vacuous(check); why != "" {
			d.say(c.ID, "vacuous", "%s: %s", Quote(check.Label()), why)
		}
		answer, _ := check.Value.(string)
		if check.Kind == OutputContains {
			answer = check.Text
		}
		if answer := folded(answer); len(answer) >= shortestAnswer && strings.Contains(prompt, answer) {
			d.say(c.ID, "answer-in-prompt", "the prompt contains %s, which %s looks for: a copy of the prompt passes",
				Quote(answer), Quote(check.Label()))
		}
	}
	if idle {
		d.say(c.ID, "idle", "it passes when the agent does nothing: check something that must be there")
	}
	for _, text := range c.Expectations {
		if strings.Contains(prompt, folded(text)) {
			d.say(c.ID, "answer-in-prompt", "the prompt contains the expectation %s word for word",
				Quote(text))
		}
	}
}

// unlike are texts that have nothing in common: what matches all of them matches any text.
var unlike = []string{
	"", "a", "0\x00", "\n\n", "The quick brown fox\njumps over the lazy dog: 1234567890 _-+*/!?(){}[]\n é",
}

// vacuous says why a check passes whatever the file has in it, or "".
func vacuous(c Check) string {
	switch {
	case (c.Kind == OutputMatches || c.Kind == JSONFieldMatches) &&
		!slices.ContainsFunc(unlike, func(text string) bool { return !c.Pattern.MatchString(text) }):
		return "the pattern matches an empty text, and so any text; say what must be there"
	case c.Kind == JSONFieldCount && c.Operator == "gte" && c.Count == 0:
		return "every count is 0 or more"
	case c.Kind == ShellCommand && slices.Contains([]string{"true", ":", "exit 0"}, strings.TrimSpace(c.Command)):
		return "the command always succeeds"
	case c.Kind == ShellCommand && strings.HasSuffix(strings.TrimSpace(c.Command), "|| true"):
		return "`|| true` makes every failure a success"
	default:
		return ""
	}
}

// folded is a text for looking whether another has it, whatever its letters and blanks.
func folded(text string) string { return strings.ToLower(plain.Spaced(text)) }

// triggers looks at the trigger queries.
func (d *doctor) triggers(list []Case) {
	if len(list) == 0 {
		d.say("", "no-triggers", "there is no %s: nothing says whether an agent takes the skill up when it should, "+
			"and leaves it when not", TriggerFile)
		return
	}
	should, queries := 0, map[string]string{}
	for _, trigger := range list {
		if *trigger.Trigger {
			should++
		}
		query := folded(trigger.Prompt)
		if first, twice := queries[query]; twice {
			d.say("", "duplicate", "the trigger query %s is %s again: it counts twice and tells nothing more",
				Quote(trigger.Prompt), Quote(first))
			continue
		}
		queries[query] = trigger.Prompt
	}
	switch {
	case should == len(list):
		d.say("", "one-sided", "none of the %d trigger queries has `should_trigger: false`: an agent that always "+
			"takes the skill up passes; add near misses", len(list))
	case should == 0:
		d.say("", "one-sided", "none of the %d trigger queries has `should_trigger: true`: an agent that never takes "+
			"the skill up passes", len(list))
	}
}

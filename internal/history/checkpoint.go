package history

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/org/autoloop/internal/metric"
)

// checkpointVersion is the version of what a checkpoint holds. One of another version
// is computed anew from the sealed segments. That of an Archive cannot be: a later
// version has to read those from firstArchived on.
const (
	checkpointVersion = 6
	firstArchived     = 3
	firstShown        = 5 // the first that has what is shown
	firstFocused      = 6 // the first that has the focus of attempts under every definition, and what was measured last
)

// Checkpoint is what the sealed segments of a ledger add up to. It saves reading them
// and is worth nothing else: it can always be computed again. The zero Checkpoint is
// that of no segments.
type Checkpoint struct {
	Chain

	summary  Summary
	standing Standing
	tried    filter // the digests of all candidates
	shown    []json.RawMessage
	began    int // the earlier version that began it, 0 for this one
}

// Chain says which segments were sealed, by their last one.
type Chain struct {
	// Segments is how many there are, Lines how many lines they have without their
	// heads, and SHA256 is that of the last of them. Numbers is that of what Forget
	// leaves of it; "" when that is the same.
	Segments int    `json:"segments"`
	Lines    int    `json:"lines"`
	SHA256   string `json:"sha256"`
	Numbers  string `json:"numbers,omitempty"`
}

// head is that of the segment after those of the chain.
func (c Chain) head() opening {
	return opening{Segment: c.Segments + 1, Lines: c.Lines, Before: c.SHA256, Numbers: c.Numbers}
}

// CheckOpen holds an open segment against the chain: the error is a *SegmentError
// when it goes on after other segments.
func (c Chain) CheckOpen(open []byte) error {
	_, _, err := c.body(open)
	return err
}

// Next reads the segment after those of the chain. What does not go on after the
// others, or cannot be read, is a *SegmentError.
func (c Chain) Next(segment []byte) ([]Event, Chain, error) {
	body, before, err := c.body(segment)
	if err != nil {
		return nil, c, err
	}
	log, err := parse(body, before)
	if err != nil {
		return nil, c, &SegmentError{Segment: c.Segments + 1, Problem: err.Error()}
	}
	return log.Events, Chain{c.Segments + 1, c.Lines + bytes.Count(body, []byte("\n")), digest(segment), numbersOf(segment)}, nil
}

// SegmentError is a segment that is not what the ledger has in its place.
type SegmentError struct {
	Segment, Line int // Line is 0 when the whole segment is meant
	Problem       string
}

func (e *SegmentError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("segment %d, line %d: %s", e.Segment, e.Line, e.Problem)
	}
	return fmt.Sprintf("segment %d: %s", e.Segment, e.Problem)
}

// body returns the body of the segment after those of the chain, and how many lines
// are before it.
func (c Chain) body(segment []byte) (body []byte, before int, err error) {
	number := c.Segments + 1
	h, body, err := splitHead(segment)
	switch {
	case err != nil:
		return nil, 0, &SegmentError{max(h.Segment, number), 1, err.Error()}
	case h == nil && c.Segments == 0:
		return body, 0, nil
	case h == nil:
		return nil, 0, &SegmentError{number, 1, "it does not say which segment it goes on after"}
	case h.Segment != number:
		return nil, 0, &SegmentError{number, 1, fmt.Sprintf("it says that it is segment %d", h.Segment)}
	case h.Before != c.SHA256 && (h.Numbers == "" || h.Numbers != c.SHA256):
		return nil, 0, &SegmentError{number, 1, fmt.Sprintf("it goes on after a segment with the digest %.12s, and segment %d has %.12s", h.Before, c.Segments, c.SHA256)}
	case h.Before == c.SHA256 && h.Numbers != "" && h.Numbers != c.Numbers:
		return nil, 0, &SegmentError{number, 1, fmt.Sprintf("it says that segment %d without details has the digest %.12s, and that is %.12s", c.Segments, h.Numbers, c.Numbers)}
	case h.Lines != c.Lines:
		return nil, 0, &SegmentError{number, 1, fmt.Sprintf("it says that %d lines come before it, and there are %d", h.Lines, c.Lines)}
	}
	return body, 1, nil
}

// Extend is the checkpoint with one more segment sealed; the error is that of Next.
func (c *Checkpoint) Extend(segment []byte) (*Checkpoint, error) {
	events, chain, err := c.Next(segment)
	if err != nil {
		return nil, err
	}
	next := c.clone()
	for _, e := range events {
		next.summary.Add(e)
		next.standing = next.standing.after(e)
		next.tried = next.tried.with(digestOf(e))
	}
	next.summary.Fold()
	next.Chain = chain
	before, err := c.Shown()
	if err != nil {
		return nil, err
	}
	if next.shown, err = show(before, events, next.summary.Decided()); err != nil {
		return nil, err
	}
	return next, nil
}

// Skip is the checkpoint after a segment that is wrong, so that those after it can be
// held against it; nil is one that is missing.
func (c *Checkpoint) Skip(segment []byte) *Checkpoint {
	next := c.clone()
	next.Segments++
	next.Lines += bytes.Count(Body(segment), []byte("\n"))
	next.SHA256, next.Numbers = digest(segment), numbersOf(segment)
	return next
}

// Agrees reports whether a checkpoint that was stored, maybe by an earlier version, says
// what c does, as far as that version knew it.
func (c *Checkpoint) Agrees(stored *Checkpoint) bool {
	own, known := *c, *stored
	own.began = stored.began
	if stored.began > 0 && stored.began < firstShown {
		own.shown, known.shown = nil, nil
	}
	if stored.began > 0 && stored.began < firstFocused {
		own.summary.Earlier.Focus, known.summary.Earlier.Focus = nil, nil
		own.standing.measured, known.standing.measured = nil, nil
	}
	mine, err := own.Encode()
	theirs, other := known.Encode()
	return err == nil && other == nil && bytes.Equal(mine, theirs)
}

// clone is a checkpoint that shares nothing with c: what is stored and read again is
// what is computed.
func (c *Checkpoint) clone() *Checkpoint {
	short := *c
	short.tried, short.shown = nil, nil // long, and what is shown is never changed in place
	text, err := short.Encode()
	if err == nil {
		if again, err := DecodeCheckpoint(text); err == nil {
			again.tried, again.shown = slices.Clone(c.tried), c.shown
			return again
		}
	}
	panic("history: a checkpoint that cannot be read back: " + string(text)) // a test holds that each can be read
}

// stored is a checkpoint as it is written.
type stored struct {
	Chain

	Version int            `json:"version"`
	Tried   filter         `json:"tried"`
	Summary storedSummary  `json:"summary"`
	Stands  storedStanding `json:"standing"`

	Shown   []json.RawMessage `json:"shown,omitempty"`
	Began   int               `json:"began,omitempty"`
	Unshown bool              `json:"unshown,omitempty"` // what version 5 wrote for one that version 3 or 4 began
}

// storedSummary has the fields of a Summary that JSON does not see, beside it.
type storedSummary struct {
	Summary

	Attempts         []storedAttempt `json:",omitempty"`
	PutOff           []storedAttempt `json:",omitempty"`
	Open             json.RawMessage `json:",omitempty"`
	Margin           metric.Value
	LeadSign         int         `json:",omitempty"`
	OpenDecided      bool        `json:",omitempty"`
	Known            consumption `json:",omitzero"`
	Baselines        []expended  `json:",omitempty"`
	CandidateOutput  string      `json:",omitempty"`
	Adopted          []string
	CandidateNumbers map[string]metric.Value
	CandidateSamples []metric.Value
	Agrees           bool `json:",omitempty"`
}

type storedAttempt struct {
	Attempt

	Known  consumption `json:",omitzero"`
	Commit string      `json:",omitempty"`
	Folded bool        `json:",omitempty"`
}

type storedStanding struct {
	Phase     Phase             `json:"phase,omitempty"`
	Iteration int               `json:"iteration"`
	Decision  json.RawMessage   `json:"decision,omitempty"`
	PushedAt  time.Time         `json:"pushed_at"`
	Checked   []json.RawMessage `json:"checked,omitempty"`
	Settled   Phase             `json:"settled,omitempty"`
	Measured  []json.RawMessage `json:"measured,omitempty"`
}

// Encode renders the checkpoint as a file.
func (c *Checkpoint) Encode() ([]byte, error) {
	b := &c.summary
	s := stored{Version: checkpointVersion, Chain: c.Chain, Tried: c.tried, Shown: c.shown, Began: c.began, Summary: storedSummary{
		Summary: *b, Attempts: storeAttempts(b.Attempts), PutOff: storeAttempts(b.PutOff), LeadSign: b.Lead.sign, Margin: b.Lead.margin,
		OpenDecided: b.openDecided, Known: b.known, CandidateOutput: b.candidateOutput,
		Baselines: b.baselines, Adopted: b.adopted, CandidateNumbers: b.candidateNumbers, CandidateSamples: b.candidateSamples, Agrees: b.agrees,
	}}
	var err error
	if s.Summary.Open, err = encodeEvent(b.Open); err != nil {
		return nil, err
	}
	at := c.standing
	s.Stands = storedStanding{Phase: at.Phase, Iteration: at.Iteration, PushedAt: at.PushedAt, Settled: at.settled}
	if s.Stands.Decision, err = encodeEvent(at.Decision); err != nil {
		return nil, err
	}
	if s.Stands.Checked, err = encodeEvents(at.checked); err != nil {
		return nil, err
	}
	if s.Stands.Measured, err = encodeEvents(at.measured); err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("render the checkpoint: %w", err)
	}
	return append(text, '\n'), nil
}

// DecodeCheckpoint reads a checkpoint. One of another version is an error.
func DecodeCheckpoint(text []byte) (*Checkpoint, error) {
	return decodeCheckpoint(text, checkpointVersion)
}

// decodeCheckpoint reads a checkpoint of a version from oldest on.
func decodeCheckpoint(text []byte, oldest int) (*Checkpoint, error) {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read the checkpoint: %w", err)
	}
	if s.Version < oldest || s.Version > checkpointVersion {
		return nil, fmt.Errorf("read the checkpoint: it has version %d, and this version of Autoloop knows %d", s.Version, checkpointVersion)
	}
	c := &Checkpoint{Chain: s.Chain, tried: s.Tried, shown: s.Shown, summary: s.Summary.Summary}
	switch {
	case s.Unshown:
		c.began = firstArchived
	case s.Began > 0 || s.Version < checkpointVersion:
		c.began = cmp.Or(s.Began, s.Version)
	}
	b := &c.summary
	b.Attempts, b.PutOff = loadAttempts(s.Summary.Attempts), loadAttempts(s.Summary.PutOff)
	b.Lead = Lead{s.Summary.LeadSign, s.Summary.Margin}
	b.openDecided, b.known, b.candidateOutput = s.Summary.OpenDecided, s.Summary.Known, s.Summary.CandidateOutput
	b.baselines = s.Summary.Baselines
	b.adopted, b.candidateNumbers, b.candidateSamples, b.agrees = s.Summary.Adopted, s.Summary.CandidateNumbers, s.Summary.CandidateSamples, s.Summary.Agrees
	if b.Settings == nil {
		b.Settings = map[string]string{}
	}
	b.foldOutcomes() // version 3 had all of them
	b.foldUse()      // version 4 had all that were put off
	c.standing = Standing{Phase: s.Stands.Phase, Iteration: s.Stands.Iteration, PushedAt: s.Stands.PushedAt, settled: s.Stands.Settled}
	var err error
	if b.Open, err = decodeEvent[*Started](s.Summary.Open); err != nil {
		return nil, err
	}
	if c.standing.Decision, err = decodeEvent[*Decided](s.Stands.Decision); err != nil {
		return nil, err
	}
	if c.standing.checked, err = decodeEvents[*Checked](s.Stands.Checked); err != nil {
		return nil, err
	}
	c.standing.measured, err = decodeEvents[*Measured](s.Stands.Measured)
	return c, err
}

// encodeEvent is an event as a line of the ledger has it; nothing for nil.
func encodeEvent[E interface {
	comparable
	Event
}](e E) (json.RawMessage, error) {
	var none E
	if e == none {
		return nil, nil
	}
	line, err := Line(e)
	return bytes.TrimSpace(line), err
}

func encodeEvents[E interface {
	comparable
	Event
}](events []E) (lines []json.RawMessage, err error) {
	for _, e := range events {
		line, err := encodeEvent(e)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

func decodeEvents[E Event](lines []json.RawMessage) (events []E, err error) {
	for _, line := range lines {
		e, err := decodeEvent[E](line)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// decodeEvent reads an event of one kind; nil when nothing is stored.
func decodeEvent[E Event](line json.RawMessage) (e E, err error) {
	if len(line) == 0 {
		return e, nil
	}
	event, err := ParseEvent(line)
	if err != nil {
		return e, fmt.Errorf("read the checkpoint: %w", err)
	}
	e, is := event.(E)
	if !is {
		return e, fmt.Errorf("read the checkpoint: it has an event %q in place of another", event.kind())
	}
	return e, nil
}

func storeAttempts(attempts []Attempt) []storedAttempt {
	var list []storedAttempt
	for _, a := range attempts {
		list = append(list, storedAttempt{Attempt: a, Known: a.known, Commit: a.commit, Folded: a.folded})
	}
	return list
}

func loadAttempts(list []storedAttempt) []Attempt {
	var attempts []Attempt
	for _, s := range list {
		s.known, s.commit, s.folded = s.Known, s.Commit, s.Folded
		attempts = append(attempts, s.Attempt)
	}
	return attempts
}

package commands

import (
	"fmt"
	"time"
)

// Place is where a comment stands. Numbers of comments tell them apart within a place only.
type Place int

// The places.
const (
	Talk   Place = iota // on an issue, or in the conversation of a pull request
	Lines               // on lines of a pull request's changes
	Review              // the text of a review
	places
)

// Address finds a comment: On is the issue or pull request.
type Address struct {
	ID    int64
	Place Place `json:"-"`
	On    int   `json:"-"`
}

// Comment is a new comment of somebody who may steer.
type Comment struct {
	Address
	Author   string
	Time     time.Time
	Commands []Command
	// Text is what it says besides; "" for nothing.
	Text string
}

// Pull is the latest pull request of the program's branch.
type Pull struct {
	Number       int
	Open, Merged bool
	// Ready says that a person marked it ready for review.
	Ready bool
	// Head is the commit that it is, or was, made of.
	Head string
	// Elsewhere is the branch into which it was merged, when that is not the one that the
	// program's work is for: then it is not Merged.
	Elsewhere string
}

// Heard is what was found on GitHub before an iteration.
type Heard struct {
	// Issue is the program's issue.
	Issue int
	// Author is the login of who wrote the program file, when it was found out
	// just now.
	Author string
	// Pull is the open pull request, or nil.
	Pull *Pull
	// Comments are those that were not heard before, the oldest first.
	Comments []Comment
	// Until marks what was heard up to now; "" when it is as before.
	Until string
	// Warnings are what a person should know.
	Warnings []string
}

// Mark is how far what people say was heard: the number of the last comment of each place.
type Mark [places]int64

// ParseMark reads a mark; what cannot be read is the beginning.
func ParseMark(text string) Mark {
	var m Mark
	if n, err := fmt.Sscanf(text, "%d %d %d", &m[Talk], &m[Lines], &m[Review]); err != nil || n != int(places) {
		return Mark{}
	}
	return m
}

// String is what ParseMark reads.
func (m Mark) String() string { return fmt.Sprintf("%d %d %d", m[Talk], m[Lines], m[Review]) }

// Knows says whether a comment was heard.
func (m Mark) Knows(c Address) bool { return c.ID <= m[c.Place] }

// With is the mark after a comment was heard.
func (m Mark) With(c Address) Mark {
	m[c.Place] = max(m[c.Place], c.ID)
	return m
}

// Within moves the mark back to end where it is after that, then on to begin where it is before.
func (m Mark) Within(begin, end Mark) Mark {
	for at := range m {
		m[at] = max(min(m[at], end[at]), begin[at])
	}
	return m
}

// Answer says to which comment an answer is, and whether all that it asked for
// was done.
type Answer struct {
	Address
	Good bool
}

// String is what ParseAnswer reads.
func (a Answer) String() string { return fmt.Sprintf("%d %d %d %t", a.ID, a.Place, a.On, a.Good) }

// ParseAnswer reads an answer's address; ok is false for any other.
func ParseAnswer(text string) (a Answer, ok bool) {
	n, err := fmt.Sscanf(text, "%d %d %d %t", &a.ID, &a.Place, &a.On, &a.Good)
	return a, err == nil && n == 4 && a.Place >= 0 && a.Place < places
}

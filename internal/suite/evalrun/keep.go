package evalrun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/org/autoloop/internal/agent"
	"github.com/org/autoloop/internal/lazyregexp"
	"github.com/org/autoloop/internal/plain"
	"github.com/org/autoloop/internal/suite/evals"
)

const (
	// maxTranscript bounds transcript.md, in bytes.
	maxTranscript = 16 << 20
	// maxShownFile and maxShown bound what the grader sees of one file and of all,
	// in bytes.
	maxShownFile = 32 << 10
	maxShown     = 128 << 10
)

// keepTranscript writes transcript.md: the conversation where the agent gives
// it, else what it printed, which the first line says.
func (w *cased) keepTranscript(printed []byte) error {
	name, form := w.Agent.Name(), agent.ProjectOf(w.Agent).Printed
	var out strings.Builder
	if form != agent.Words {
		fmt.Fprintf(&out, "# Transcript of %s\n", name)
	} else {
		fmt.Fprintf(&out, "The agent %s does not give its conversation; this is what it printed.\n", name)
	}
	section(&out, "Prompt", w.prompt(w.c))
	switch form {
	case agent.Events:
		events(&out, printed)
	case agent.Markdown:
		section(&out, "Conversation", string(printed))
	default:
		section(&out, "Printed", string(printed))
	}
	if failure := w.reply.Failure; failure != nil {
		section(&out, "Failure", failure.Error())
	}
	w.transcript = w.masker.String(strings.ToValidUTF8(out.String(), "\ufffd"))
	if len(w.transcript) > maxTranscript {
		w.transcript = strings.ToValidUTF8(w.transcript[:maxTranscript], "") + "\n… the rest is left out\n"
	}
	return os.WriteFile(filepath.Join(w.dir, TranscriptFile), []byte(w.transcript), 0o600)
}

// section is a heading with text in a fence that the text cannot close.
func section(out *strings.Builder, title, text string) {
	fence := plain.Fence(text)
	fmt.Fprintf(out, "\n## %s\n\n%s\n%s\n%s\n", title, fence, strings.TrimRight(text, "\n"), fence)
}

var notEventName = lazyregexp.New(`[^A-Za-z._-]`)

// events shows each event of a stream, and what is no event as it is.
func events(out *strings.Builder, printed []byte) {
	number := 0
	for line := range bytes.Lines(printed) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		number++
		var kind struct {
			Type string `json:"type"`
		}
		var pretty bytes.Buffer
		if json.Unmarshal(line, &kind) != nil || json.Indent(&pretty, line, "", "  ") != nil {
			section(out, fmt.Sprintf("%d: printed", number), string(line))
			continue
		}
		section(out, fmt.Sprintf("%d: %s", number, notEventName().ReplaceAllString(kind.Type, "")), pretty.String())
	}
}

// keepOutputs copies what is in outputs/, and shows it to the grader as text.
func (w *cased) keepOutputs(ctx context.Context) error {
	dir := filepath.Join(w.dir, evals.OutputsDir)
	kept, left, err := w.box.KeepOutputs(ctx, dir)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, file := range kept {
		w.chars += int(file.Size)
		fmt.Fprintf(&out, "--- %q, %d bytes\n", file.Path, file.Size)
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file.Path)))
		switch {
		case err != nil || !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
			out.WriteString("(not text)\n")
		case out.Len() > maxShown:
			out.WriteString("(not shown)\n")
		case len(data) > maxShownFile:
			fmt.Fprintf(&out, "%s\n… the rest is left out\n", strings.ToValidUTF8(string(data[:maxShownFile]), ""))
		default:
			fmt.Fprintf(&out, "%s\n", data)
		}
	}
	if left > 0 {
		fmt.Fprintf(&out, "%d further paths are links, special files, or too much, and are not shown\n", left)
	}
	w.files = w.masker.String(out.String())
	return nil
}

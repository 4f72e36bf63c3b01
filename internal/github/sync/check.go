package sync

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/org/autoloop/internal/github/api"
	"github.com/org/autoloop/internal/program"
	"github.com/org/autoloop/internal/render"
)

// SayCheck comments on an issue whether it is a program, or edits what it said
// before when it says something else now.
func SayCheck(ctx context.Context, client *api.Client, issue int, body string) error {
	comments, err := client.Comments(ctx, issue, time.Time{})
	if err != nil {
		return err
	}
	for _, said := range comments {
		if !isBot(said.Author) && !slices.Contains(program.DefaultTrusted(), said.Association) ||
			!render.Has(said.Body, render.CheckMark) {
			continue // somebody else's words
		}
		if strings.TrimSpace(said.Body) == strings.TrimSpace(body) {
			return nil
		}
		return client.EditComment(ctx, said.ID, body)
	}
	_, err = client.CreateComment(ctx, issue, body)
	return err
}

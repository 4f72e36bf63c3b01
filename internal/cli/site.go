package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/autoloop/internal/files"
	"github.com/org/autoloop/internal/loop/budget"
	"github.com/org/autoloop/internal/misuse"
	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/internal/render/page"
	"github.com/org/autoloop/internal/schedule"
)

// makeSite reads what the page shows of the named programs, or of all: the records, and what the
// program's file and the schedule know. Without the files the page has what the records say. A name
// without records is a misuse.
func (a *App) makeSite(ctx context.Context, names []string) (*page.Site, error) {
	standings := map[string]*schedule.Standing{}
	if plan, err := a.plan(ctx, false); err == nil {
		for _, s := range plan.Standings {
			standings[s.Program.Name] = s
		}
	}
	states, err := a.Memory.States(ctx)
	if err != nil {
		return nil, err
	}
	known := slices.Sorted(maps.Keys(states))
	for _, name := range names {
		if _, found := states[name]; !found {
			return nil, misuse.Errorf("program %q has no records; there are records of %s", name,
				cmp.Or(strings.Join(known, ", "), "none"))
		}
	}
	if len(names) == 0 {
		names = known
	}
	made := &page.Site{Generated: a.Now(), Version: buildVersion()}
	for _, name := range names {
		records, _, err := a.Memory.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		log := records.Ledger.Copy()
		past := log.Summary()
		source := page.Source{
			Name: name, Summary: &past, Events: log.Events, File: records.State, Repository: a.repositoryPage(),
			Diff: func(parent, commit string) []byte { return a.shownDiff(ctx, parent, commit) },
		}
		if s := standings[name]; s != nil {
			status := s.Status("")
			source.State, source.Reason = status.State, status.Reason
			source.Metric, source.Target = s.Program.Metric, s.Program.Target
			if s.NextDue != nil {
				source.NextDue = *s.NextDue
			}
			source.Budget = budget.Stand(s.Program, source.Summary, a.Now()).Used
		}
		p, err := page.New(source, a.Now())
		if err != nil {
			return nil, err
		}
		made.Programs = append(made.Programs, p)
	}
	return made, nil
}

// maxPatch is the size in bytes beyond which the rest of a change is left out.
const maxPatch = 64 << 10

// shownDiff reads a change. One that cannot be read is not shown; its commit is named anyway.
func (a *App) shownDiff(ctx context.Context, parent, commit string) []byte {
	if parent == "" {
		return nil
	}
	patch, err := a.Repo.Diff(ctx, parent, commit)
	if err != nil {
		return nil
	}
	if len(patch) > maxPatch {
		patch = append(patch[:bytes.LastIndexByte(patch[:maxPatch], '\n')+1], "… the commit has the rest\n"...)
	}
	return patch
}

// writeSite writes one file when out ends in .html, else a directory with index.html
// and a page of each program. It returns the file to open.
func writeSite(s *page.Site, out string) (string, error) {
	dir, first := out, "index.html"
	pages := map[string]page.View{first: {Site: s, Overview: true}}
	if strings.EqualFold(filepath.Ext(out), ".html") {
		dir, first = filepath.Dir(out), filepath.Base(out)
		pages = map[string]page.View{first: {Site: s, Overview: true, Shown: s.Programs}}
	} else {
		for _, p := range s.Programs {
			pages[page.File(p.Name)] = page.View{Site: s, Shown: []*page.Program{p}}
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", misuse.Errorf("%s is a file: name a directory, or a file that ends in .html", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // pages are for others to read
		return "", err
	}
	for name, view := range pages {
		var b bytes.Buffer
		if err := view.Write(&b); err != nil {
			return "", err
		}
		if err := files.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, first), nil
}

// servePage serves the page on this machine, while runs go on, until the context is done. It writes
// nothing.
func (a *App) servePage(ctx context.Context, port int, names []string) error {
	if port < 0 || port > 65535 {
		return misuse.Errorf("--serve=%d: give a number from 0 to 65535; 0 takes a free one", port)
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	a.GitHub = nil
	if len(names) > 0 { // a name without records is said here, not in the browser
		if _, err := a.makeSite(ctx, names); err != nil {
			return err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	host, token, mux := listener.Addr().String(), rand.Text(), http.NewServeMux()
	mux.Handle("GET /{token}/{$}", answer("text/html; charset=utf-8", func(ctx context.Context, out io.Writer) error {
		s, err := a.makeSite(ctx, names)
		if err != nil {
			return err
		}
		return page.View{Site: s, Live: true, Overview: true, Shown: s.Programs}.Write(out)
	}))
	mux.Handle("GET /{token}/state", answer("application/json", a.writeRunning))
	server := &http.Server{
		Handler: guarded(host, token, mux), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	fmt.Fprintf(a.Stdout, "http://%s/%s/\n", host, token)
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// writeRunning tells the page what runs are at, by the head of the records when to get itself anew,
// and when to ask again.
func (a *App) writeRunning(ctx context.Context, out io.Writer) error {
	head, err := a.Memory.Head(ctx)
	if err != nil {
		return err
	}
	said := []string{}
	if running, err := live.New(a.Repo.CommonDir).Running(); err == nil {
		for _, s := range running {
			said = append(said, s.At(a.Now()))
		}
	}
	again := time.Second // from the records of this repository
	if a.Memory.Remote != "" {
		again = 30 * time.Second
	}
	return json.NewEncoder(out).Encode(map[string]any{"version": head, "running": said, "again": again.Milliseconds()})
}

// answer writes a whole answer, or the error that kept it from being made.
func answer(kind string, write func(context.Context, io.Writer) error) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		if err := write(r.Context(), &b); err != nil {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		rw.Header().Set("Content-Type", kind)
		_, _ = rw.Write(b.Bytes())
	})
}

// guarded answers for one host: nothing without the token of its address, and nothing to another site.
func guarded(host, token string, inner http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		header := rw.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		given, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		// A name that resolves to this machine would let any site ask.
		origin := r.Header.Get("Origin")
		if r.Host != host || origin != "" && origin != "http://"+host ||
			subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			http.NotFound(rw, r)
			return
		}
		inner.ServeHTTP(rw, r)
	})
}

package site

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/org/autoloop/internal/render/live"
	"github.com/org/autoloop/internal/render/page"
)

// Watcher serves the page on this machine while runs go on. It answers nothing
// without the token of its address, nothing to another site, and writes nothing.
type Watcher struct {
	// Make makes the site, Version names what it is made from: when that changes
	// the page is made again.
	Make    func(context.Context) (*page.Site, error)
	Version func(context.Context) (string, error)
	Board   live.Board
	// Token is the secret part of the address.
	Token string
	Now   func() time.Time
	// Every is how often the page asks.
	Every time.Duration
}

// Serve answers on the listener until the context is done.
func (w *Watcher) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{
		Handler: w.Handler(listener.Addr().String()), ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// URL is where the page is on a host such as 127.0.0.1:4321.
func (w *Watcher) URL(host string) string { return "http://" + host + "/" + w.Token + "/" }

// Handler answers for one host.
func (w *Watcher) Handler(host string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{token}/{$}", w.page)
	mux.HandleFunc("GET /{token}/state", w.state)
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		header := rw.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		token, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		// A name that resolves to this machine would let any site ask.
		origin := r.Header.Get("Origin")
		if r.Host != host || origin != "" && origin != "http://"+host ||
			subtle.ConstantTimeCompare([]byte(token), []byte(w.Token)) != 1 {
			http.NotFound(rw, r)
			return
		}
		mux.ServeHTTP(rw, r)
	})
}

func (w *Watcher) page(rw http.ResponseWriter, r *http.Request) {
	s, err := w.Make(r.Context())
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	var b bytes.Buffer
	if err := (page.View{Site: s, Live: true, Overview: true, Shown: s.Programs}).Write(&b); err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = rw.Write(b.Bytes())
}

// state tells the page what runs are at, and by its version when to get itself anew.
func (w *Watcher) state(rw http.ResponseWriter, r *http.Request) {
	version, err := w.Version(r.Context())
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	said := []string{}
	if running, err := w.Board.Running(); err == nil {
		for _, s := range running {
			said = append(said, s.At(w.Now()))
		}
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(map[string]any{
		"version": version, "running": said, "again": w.Every.Milliseconds(),
	})
}

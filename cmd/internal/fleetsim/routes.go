//go:build unix

package fleetsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// SearchWord is a text that occurs once in each host's output, for searches.
const SearchWord = "simulated-needle"

// lines is the number of lines that each session has printed.
const lines = 100

// outputs caches the output of sessions by id, which all hosts share. Real hosts do not regenerate output for a search
// either.
var outputs sync.Map

// output returns the output of a session; that of a host's first session contains SearchWord.
func output(session string) string {
	if text, ok := outputs.Load(session); ok {
		return text.(string)
	}
	text, _ := outputs.LoadOrStore(session, generateOutput(session))
	return text.(string)
}

func generateOutput(session string) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "[%d/%d] compiling part %d of %s\n", i+1, lines, i+1, session)
	}
	if session == ID(0) {
		b.WriteString("found the " + SearchWord + " here\n")
	}
	return b.String()
}

// routes serves sessions, output and searches as a daemon does.
func (h *host) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("GET "+api.Version+"/sessions", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, append([]api.Session{}, h.all()...))
	})
	m.HandleFunc("GET "+api.Version+"/sessions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if s, ok := h.find(r.PathValue("id")); ok {
			answer(w, s)
			return
		}
		refuse(w, r)
	})
	m.HandleFunc("GET "+api.Version+"/sessions/{id}/output", func(w http.ResponseWriter, r *http.Request) {
		s, ok := h.find(r.PathValue("id"))
		if !ok {
			refuse(w, r)
			return
		}
		all := output(s.ID)
		from, _ := strconv.Atoi(r.FormValue("from")) // without it, from the start
		from = max(0, min(from, len(all)))
		answer(w, api.Output{Data: []byte(all[from:]), From: uint64(from), Next: uint64(len(all)), End: true}) //nolint:gosec // within all
	})
	m.HandleFunc("GET "+api.Version+"/sessions/{id}/output/text", func(w http.ResponseWriter, r *http.Request) {
		s, ok := h.find(r.PathValue("id"))
		if !ok {
			refuse(w, r)
			return
		}
		all := output(s.ID)
		answer(w, api.OutputText{Text: all, Next: uint64(len(all)), End: true})
	})
	m.HandleFunc("GET "+api.Version+"/search", func(w http.ResponseWriter, r *http.Request) { answer(w, h.search(r.FormValue("text"))) })
	m.HandleFunc("/", refuse)
	return m
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// refuse answers requests that the simulation does not support.
func refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(api.Errorf(api.CodeNotFound, "not found: a simulated host serves no such path").
		WithHint("it serves a list of sessions, their output and text search"))
}

// all returns the host's sessions in the API's form.
func (h *host) all() (all []api.Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.sessions {
		s := &h.sessions[i]
		n := uint64(len(output(s.ID)))
		all = append(all, api.Session{
			ID: s.ID, Name: s.Name, State: s.State, Command: s.Command, Cwd: s.Cwd, Created: s.Since, Started: s.Since, Output: api.Range{End: n},
			Duration: time.Since(s.Since).Milliseconds(), Labels: map[string]string{}, Argv: []string{"make"}, Cols: 80, Rows: 24, Mode: "pipe",
		})
	}
	return all
}

func (h *host) find(name string) (api.Session, bool) {
	for _, s := range h.all() {
		if s.ID == name || s.Name == name {
			return s, true
		}
	}
	return api.Session{}, false
}

// maxHits bounds a search result.
const maxHits = 50

func (h *host) search(text string) api.Found {
	found := api.Found{Hits: []api.Hit{}}
	if text == "" {
		return found
	}
	for _, s := range h.all() {
		if !strings.Contains(output(s.ID), text) { // as a search index filters
			continue
		}
		at := 0
		for line := range strings.Lines(output(s.ID)) {
			if i := strings.Index(line, text); i >= 0 {
				found.Hits = append(found.Hits, api.Hit{
					Session: s.ID, Name: s.Name, From: uint64(at), To: uint64(at + len(line)), Time: s.Started, //nolint:gosec // not negative
					Text: strings.TrimSuffix(line, "\n"), Matches: [][2]int{{i, i + len(text)}},
				})
				if len(found.Hits) == maxHits {
					return found
				}
			}
			at += len(line)
		}
	}
	return found
}

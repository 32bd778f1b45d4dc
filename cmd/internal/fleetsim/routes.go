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

// Word is what each host's output has once.
const Word = "simulated-needle"

// lines is how much each session has printed.
const lines = 100

// outputs are what sessions printed, by their ids, which each host has: a host in truth does not make it anew for a search.
var outputs sync.Map

// output is what a session printed; the first session of a host printed Word, too.
func output(session string) string {
	if text, ok := outputs.Load(session); ok {
		return text.(string)
	}
	text, _ := outputs.LoadOrStore(session, printed(session))
	return text.(string)
}

func printed(session string) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "[%d/%d] compiling part %d of %s\n", i+1, lines, i+1, session)
	}
	if session == ID(0) {
		b.WriteString("found the " + Word + " here\n")
	}
	return b.String()
}

// routes answer as a daemon does: sessions, output and searches.
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
		from, _ := strconv.Atoi(r.FormValue("from")) // none: from the beginning
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

func refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(api.Errorf(api.CodeNotFound, "a simulated host has no such thing").
		WithHint("it has a list of sessions, their output and searches for text"))
}

// all are the host's sessions as the API has them.
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

// maxHits bounds an answer.
const maxHits = 50

func (h *host) search(text string) api.Found {
	found := api.Found{Hits: []api.Hit{}}
	if text == "" {
		return found
	}
	for _, s := range h.all() {
		if !strings.Contains(output(s.ID), text) { // as an index says
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

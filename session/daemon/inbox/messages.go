//go:build unix

package inbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

const (
	// writeEvery is the shortest time between two writes of messages: programs can send thousands.
	writeEvery = 2 * time.Second
	// maxMessages bounds the messages of a session that are kept, the newest.
	maxMessages = 20
	// maxWaiting bounds the messages that wait to be written.
	maxWaiting = 500
)

// Follow records the messages and anomalies of programs whose session no client shows, and the ports that programs open. stop ends that
// and waits.
func (s *Set) Follow(events <-chan api.Event) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.forget()
		s.follow(ctx, events)
	}()
	return func() { cancel(); <-done }
}

// forget deletes entries that are too old to be listed again.
func (s *Set) forget() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.store.ForgetInbox(ctx, time.Now().Add(-markRetention)); err != nil {
		s.log.Warn("forget old entries of the inbox", "err", err)
	}
}

func (s *Set) follow(ctx context.Context, events <-chan api.Event) {
	var waiting waitingMessages
	pause := time.NewTimer(0)
	defer pause.Stop()
	paused := true
	for {
		select {
		case <-ctx.Done():
			s.write(waiting.take())
			return
		case e, ok := <-events:
			if !ok { // the daemon ends
				events = nil
				continue
			}
			if !waiting.add(&e, time.Now(), s.mask) || paused {
				continue
			}
		case <-pause.C:
			if paused = false; waiting.empty() {
				continue
			}
		}
		s.write(waiting.take())
		paused = true
		pause.Reset(writeEvery)
	}
}

func (s *Set) mask(text string) string { return s.reg.Secrets().RedactText(text) }

func (s *Set) write(list []store.InboxEntry) {
	// Tests open ports by the hundred for a moment.
	list = slices.DeleteFunc(list, func(e store.InboxEntry) bool { return isPort(&e) && !s.isPortOpen(&e) })
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.store.AddMessages(ctx, list, maxMessages); err != nil {
		s.log.Warn("record messages of programs", "err", err)
		return
	}
	s.reg.Bus.Send(api.Event{Kind: "inbox"})
}

// isPortOpen reports whether a recorded port is still open.
func (s *Set) isPortOpen(e *store.InboxEntry) bool {
	h := s.reg.ByID(e.Session)
	if h == nil {
		return false
	}
	ports, _ := h.Ports()
	return len(portItems(e, &sessionFacts{ports: ports})) > 0
}

// waitingMessages holds messages and ports until they are written.
type waitingMessages struct {
	list  []store.InboxEntry
	bells map[string]int    // index in list, by session
	last  map[string]string // newest text, by session
}

func (w *waitingMessages) empty() bool { return len(w.list) == 0 }

// take returns the messages and forgets them.
func (w *waitingMessages) take() []store.InboxEntry {
	list := w.list
	*w = waitingMessages{}
	return list
}

// add adds the message or port of an event and reports whether it has one. It drops repeated texts, and all that wait
// if they are too many. Ports that a client shows are recorded too: a later daemon reports them again.
func (w *waitingMessages) add(e *api.Event, now time.Time, mask func(string) string) bool {
	if e.Session == nil || e.Session.Clients > 0 && e.Kind != "port-open" {
		return false
	}
	id := e.Session.ID
	m := store.InboxEntry{Session: id, At: now}
	switch e.Kind {
	case "bell":
		if e.Session.Shell != nil && e.Session.Shell.Phase == "prompt" { // it rings for keys
			return false
		}
		if i, ok := w.bells[id]; ok {
			w.list[i].Count += e.Count
			return true
		}
		m.Count = max(e.Count, 1)
	case "notification":
		text := e.Title
		if text != "" && e.Text != "" {
			text += ": "
		}
		if m.Text = line(mask(text+e.Text), maxText); m.Text == "" || w.last[id] == m.Text {
			return false
		}
	case "port-open":
		if e.Port == nil || e.Port.Port == 0 || e.Port.Inside {
			return false
		}
		m = portEntry(id, e.Port, now)
	case "anomaly":
		if e.Anomaly == nil {
			return false
		}
		m = anomalyEntry(id, e.Anomaly, now, mask)
	default:
		return false
	}
	if m.Key == "" {
		m.Key = fmt.Sprintf("%s %s %d", e.Kind, id, e.Seq)
	}
	if len(w.list) >= maxWaiting {
		w.take()
	}
	if w.last == nil {
		w.last, w.bells = map[string]string{}, map[string]int{}
	}
	switch e.Kind {
	case "bell":
		w.bells[id] = len(w.list)
	case "notification":
		w.last[id] = m.Text
	}
	w.list = append(w.list, m)
	return true
}

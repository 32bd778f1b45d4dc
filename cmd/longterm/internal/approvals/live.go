//go:build unix

package approvals

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

// Live is the pure machine of the list that lives: approvals and keys go in, screens and answers come out.
type Live struct {
	list []api.Approval
	at   int    // that is chosen
	note string // what the last answer did
	full bool   // the chosen one is shown in full
}

// Action is what a key asks for.
type Action struct {
	Quit   bool
	ID     string // to be answered
	Answer string
}

// Set takes the approvals that are pending; the chosen one stays chosen while it is there.
func (l *Live) Set(list []api.Approval) {
	chosen := ""
	if l.at < len(l.list) {
		chosen = l.list[l.at].ID
	}
	l.list = list
	if i := slices.IndexFunc(list, func(v api.Approval) bool { return v.ID == chosen }); i >= 0 {
		l.at = i
	}
	l.at = max(0, min(l.at, len(list)-1))
}

// Note is shown below the list.
func (l *Live) Note(text string) { l.note = output.Printable(text) }

var answerKeys = map[byte]string{'1': "once", '2': "session", '3': "always", '4': "reject"}

// Key takes what was typed, as one read had it.
func (l *Live) Key(in []byte) Action {
	switch string(in) {
	case "\x1b[A", "\x1bOA", "k":
		l.at = max(0, l.at-1)
		return Action{}
	case "\x1b[B", "\x1bOB", "j":
		l.at = max(0, min(l.at+1, len(l.list)-1))
		return Action{}
	case "\r", "\n", " ":
		l.full = !l.full
		return Action{}
	case "q", "\x03", "\x04", "\x1b":
		return Action{Quit: true}
	}
	if len(in) == 1 && answerKeys[in[0]] != "" && l.at < len(l.list) {
		return Action{ID: l.list[l.at].ID, Answer: answerKeys[in[0]]}
	}
	return Action{}
}

// Screen is the whole screen, lines ended as a raw terminal wants them.
func (l *Live) Screen(cols, rows int) []byte {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J")
	var lines []string
	lines = append(lines, fmt.Sprintf("%s pending   1 once  2 session  3 always  4 reject   Enter details  q quit", output.HowMany(len(l.list), "approval", "approvals")))
	space := max(1, rows-3)
	if l.full && l.at < len(l.list) {
		var text strings.Builder
		Show(&text, &l.list[l.at])
		lines = append(lines, strings.Split(strings.TrimRight(text.String(), "\n"), "\n")...)
	} else {
		from := max(0, min(l.at-space/2, len(l.list)-space))
		for i := from; i < len(l.list) && i < from+space; i++ {
			v := &l.list[i]
			mark := "  "
			if i == l.at {
				mark = "> "
			}
			lines = append(lines, fmt.Sprintf("%s%-5s %-7s %-6s %-12s %s", mark, v.ID, output.Elapsed(time.Since(v.Asked).Milliseconds()), v.Risk, output.Shorten(Asker(v), 12), What(v)))
		}
	}
	if len(lines) > rows-1 {
		lines = lines[:max(1, rows-1)]
	}
	for _, line := range lines {
		b.WriteString(output.Shorten(line, max(1, cols-1)) + "\r\n")
	}
	b.WriteString(output.Shorten(l.note, max(1, cols-1)))
	return []byte(b.String())
}

// Source is what feeds the list.
type Source interface {
	Pending(ctx context.Context) ([]api.Approval, error)
	Answer(ctx context.Context, id, answer string) (api.Approval, error)
}

// Screen is where it is drawn and what keys come from.
type Screen interface {
	Draw([]byte) error
	Size() (cols, rows int)
}

// Run shows the list until q is pressed or ctx ends. changed tells that there is something new; resized, that
// the terminal has another size.
func Run[R any](ctx context.Context, src Source, t Screen, keys <-chan []byte, changed <-chan struct{}, resized <-chan R) error {
	var l Live
	load := true
	for {
		if load {
			list, err := src.Pending(ctx)
			if err != nil {
				return err
			}
			l.Set(list)
		}
		if err := t.Draw(l.Screen(t.Size())); err != nil {
			return err
		}
		load = false
		select {
		case <-ctx.Done():
			return nil
		case _, ok := <-changed:
			if !ok {
				return nil
			}
			load = true
		case <-resized:
		case in, ok := <-keys:
			act := l.Key(in)
			if !ok || act.Quit {
				return nil
			}
			if act.ID == "" {
				continue
			}
			if v, err := src.Answer(ctx, act.ID, act.Answer); err != nil {
				l.Note(err.Error())
			} else {
				l.Note(fmt.Sprintf("%s: %s", v.ID, v.Answer))
			}
			load = true
		}
	}
}

//go:build unix

package approvals

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

// Live is the pure machine of the list that lives: approvals and keys go in, screens and answers come out.
type Live struct {
	rows    []entry
	at      int    // that is chosen
	page    int    // rows that were shown last
	note    string // what the last answer did
	full    bool   // the chosen one is shown in full
	grouped bool   // a row is a group. Only Tab changes that: what comes in never changes what a key answers
	begun   bool
	all     []api.Approval
}

// entry is a row: an approval, or those of a group that are shown.
type entry struct {
	name string // that it is known by when there is something new
	of   []*api.Approval
}

// Action is what a key asks for.
type Action struct {
	Quit   bool
	IDs    []string // to be answered
	Answer string
}

// Set takes the approvals that are pending; the chosen row stays chosen while it is there. Many are grouped from the start.
func (l *Live) Set(list []api.Approval) {
	if !l.begun {
		l.begun, l.grouped = true, len(list) >= Grouped
	}
	l.all = list
	l.arrange()
}

// arrange makes the rows anew.
func (l *Live) arrange() {
	chosen := ""
	if l.at < len(l.rows) {
		chosen = l.rows[l.at].name
	}
	l.rows = nil
	at := map[string]int{}
	for i := range l.all {
		v := &l.all[i]
		name := v.ID
		if l.grouped {
			name = v.Group
		}
		k, known := at[name]
		if !known {
			k, at[name] = len(l.rows), len(l.rows)
			l.rows = append(l.rows, entry{name: name})
		}
		l.rows[k].of = append(l.rows[k].of, v)
	}
	if k, ok := at[chosen]; ok {
		l.at = k
	}
	l.move(0)
}

// move chooses another row.
func (l *Live) move(by int) { l.at = max(0, min(l.at+by, len(l.rows)-1)) }

// Note is shown below the list.
func (l *Live) Note(text string) { l.note = output.Printable(text) }

var answerKeys = map[byte]string{'1': "once", '2': "session", '3': "always", '4': "reject"}

// Key takes what was typed, as one read had it.
func (l *Live) Key(in []byte) Action {
	switch string(in) {
	case "\x1b[A", "\x1bOA", "k":
		l.move(-1)
	case "\x1b[B", "\x1bOB", "j":
		l.move(1)
	case "\x1b[5~":
		l.move(-max(1, l.page))
	case "\x1b[6~":
		l.move(max(1, l.page))
	case "\x1b[H", "\x1bOH", "\x1b[1~", "g":
		l.move(-len(l.rows))
	case "\x1b[F", "\x1bOF", "\x1b[4~", "G":
		l.move(len(l.rows))
	case "\t":
		l.grouped = !l.grouped
		l.arrange()
	case "\r", "\n", " ":
		l.full = !l.full
	case "q", "\x03", "\x04", "\x1b":
		return Action{Quit: true}
	}
	if len(in) != 1 || answerKeys[in[0]] == "" || l.at >= len(l.rows) {
		return Action{}
	}
	act := Action{Answer: answerKeys[in[0]]}
	for _, v := range l.rows[l.at].of { // those that are shown, and none that has come since
		act.IDs = append(act.IDs, v.ID)
	}
	return act
}

// Screen is the whole screen, lines ended as a raw terminal wants them.
func (l *Live) Screen(cols, rows int) []byte {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J")
	head, other := output.HowMany(len(l.all), "approval", "approvals"), "groups"
	if l.grouped {
		head, other = head+" in "+output.HowMany(len(l.rows), "group", "groups"), "each"
	}
	lines := []string{head + " pending   1 once  2 session  3 always  4 reject   Enter details  Tab " + other + "  q quit"}
	l.page = max(1, rows-3)
	if l.full && l.at < len(l.rows) {
		lines = append(lines, l.rows[l.at].lines()...)
	} else {
		from := max(0, min(l.at-l.page/2, len(l.rows)-l.page))
		for i := from; i < len(l.rows) && i < from+l.page; i++ {
			mark := "  "
			if i == l.at {
				mark = "> "
			}
			lines = append(lines, mark+l.rows[i].line(l.grouped))
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

// line is a row in short.
func (e *entry) line(grouped bool) string {
	v := e.of[0]
	if grouped {
		return fmt.Sprintf("%4d %-6s %-12s %-36s %s", len(e.of), v.Risk, output.Shorten(Asker(v), 12), output.Shorten(inLine(e.name), 36), What(v))
	}
	return fmt.Sprintf("%-5s %-7s %-6s %-12s %s", v.ID, output.Elapsed(time.Since(v.Asked).Milliseconds()), v.Risk, output.Shorten(Asker(v), 12), What(v))
}

// lines are a row in full: of a group each one that an answer is for.
func (e *entry) lines() (lines []string) {
	if len(e.of) == 1 {
		var text strings.Builder
		Show(&text, e.of[0])
		return strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	}
	lines = append(lines, fmt.Sprintf("%s: %d approvals", inLine(e.name), len(e.of)))
	for _, v := range e.of {
		one := entry{of: []*api.Approval{v}}
		lines = append(lines, "  "+one.line(false))
	}
	return lines
}

// Source is what feeds the list.
type Source interface {
	Pending(ctx context.Context) ([]api.Approval, error)
	Answer(ctx context.Context, id, answer string) (api.Approval, error)
	AnswerAll(ctx context.Context, ids []string, answer string) (api.ApprovalsAnswered, error)
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
			if len(act.IDs) == 0 {
				continue
			}
			l.Note(answered(ctx, src, act))
			load = true
		}
	}
}

// answered carries an answer out, and says what came of it.
func answered(ctx context.Context, src Source, act Action) string {
	if len(act.IDs) == 1 {
		v, err := src.Answer(ctx, act.IDs[0], act.Answer)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s: %s", v.ID, v.Answer)
	}
	done, err := src.AnswerAll(ctx, act.IDs, act.Answer)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %s", output.HowMany(len(done.Answered), "approval", "approvals"), act.Answer)
	if n := len(done.Failed); n > 0 {
		text += fmt.Sprintf("; %d not answered: %s", n, done.Failed[0].Error.Message)
	}
	return text
}

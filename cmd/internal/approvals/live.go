//go:build unix

package approvals

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/longterm-dev/longterm/cmd/internal/output"
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
	reason  *reason // what is rejected, while the reason is typed; nil: nothing is
}

// reason is what whoever asked is to be told of a rejection.
type reason struct {
	act  Action
	text []rune
}

// maxReason bounds it, in characters.
const maxReason = 1000

// entry is a row: an approval, or those of a group that are shown.
type entry struct {
	name string // that it is known by when there is something new
	of   []*api.Approval
}

// Action is what a key asks for.
type Action struct {
	Quit     bool
	IDs      []string // to be answered
	Answer   string
	Feedback string
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
	if l.reason != nil {
		return l.typeReason(string(in))
	}
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
	case "\x1b":
		if l.full {
			l.full = false
			return Action{}
		}
		return Action{Quit: true}
	case "q", "\x03", "\x04":
		return Action{Quit: true}
	}
	if len(in) != 1 || answerKeys[in[0]] == "" || l.at >= len(l.rows) {
		return Action{}
	}
	act := Action{Answer: answerKeys[in[0]]}
	for _, v := range l.rows[l.at].of { // those that are shown, and none that has come since
		if why := answerProblem(v, act.Answer); why != "" {
			l.Note(v.ID + ": " + why)
			return Action{}
		}
		act.IDs = append(act.IDs, v.ID)
	}
	if act.Answer == "reject" { // it is final, and whoever asked is to know why
		l.reason = &reason{act: act}
		return Action{}
	}
	return act
}

// answerProblem returns why an approval does not accept an answer, or "" if it does.
func answerProblem(v *api.Approval, answer string) string {
	switch {
	case slices.Contains(v.Answers(), answer):
		return ""
	case answer == "session":
		return "the command has no session yet; answer 1 (once) or 4 (reject)"
	case v.NoRule != "":
		return "no rule can allow it: " + v.NoRule
	}
	return "no rule is proposed; `longterm approvals answer " + v.ID + " always --rule RULE` writes one"
}

// typeReason takes what was typed of the reason for a rejection.
func (l *Live) typeReason(in string) Action {
	r := l.reason
	switch in {
	case "\r", "\n":
		l.reason = nil
		r.act.Feedback = strings.TrimSpace(string(r.text))
		return r.act
	case "\x1b", "\x03", "\x04":
		l.reason = nil
	case "\x7f", "\b":
		r.text = r.text[:max(0, len(r.text)-1)]
	case "\x15": // Ctrl-U
		r.text = nil
	default:
		if strings.HasPrefix(in, "\x1b") { // another key
			break
		}
		for _, c := range in {
			if unicode.IsPrint(c) && len(r.text) < maxReason {
				r.text = append(r.text, c)
			}
		}
	}
	return Action{}
}

// line is the reason as it is typed, its end where it is too long.
func (r *reason) line(cols int) string {
	what := r.act.IDs[0]
	if n := len(r.act.IDs); n > 1 {
		what = output.HowMany(n, "approval", "approvals")
	}
	head := "reject " + what + " (Enter; Escape: not), because: "
	text := r.text[max(0, len(r.text)-max(0, cols-1-len(head))):]
	return head + string(text)
}

// keys are what the keys do.
func (l *Live) keys() string {
	enter, other := "Enter details", "groups"
	if l.full {
		enter = "Enter back"
	}
	if l.grouped {
		other = "each"
	}
	return "1 once  2 session  3 always  4 reject   " + enter + "  Tab " + other + "  q quit"
}

// Screen is the whole screen, lines ended as a raw terminal wants them.
func (l *Live) Screen(cols, rows int) []byte {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J")
	head := output.HowMany(len(l.all), "approval", "approvals")
	if l.grouped {
		head += " in " + output.HowMany(len(l.rows), "group", "groups")
	}
	lines := []string{head + " pending   " + l.keys()}
	if len(lines[0]) >= cols {
		lines = []string{head + " pending", l.keys()}
	}
	l.page = max(1, rows-2-len(lines))
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
	last := l.note
	if l.reason != nil {
		last = l.reason.line(cols)
	}
	b.WriteString(output.Shorten(last, max(1, cols-1)))
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
	Answer(ctx context.Context, id string, ans api.ApprovalAnswer) (api.Approval, error)
	AnswerAll(ctx context.Context, ids []string, ans api.ApprovalAnswer) (api.ApprovalsAnswered, error)
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
	ans := api.ApprovalAnswer{Answer: act.Answer, Feedback: act.Feedback}
	if len(act.IDs) == 1 {
		v, err := src.Answer(ctx, act.IDs[0], ans)
		if err != nil {
			return err.Error()
		}
		if v.Note != "" {
			return fmt.Sprintf("%s: %s (%s)", v.ID, v.Answer, v.Note)
		}
		return fmt.Sprintf("%s: %s", v.ID, v.Answer)
	}
	done, err := src.AnswerAll(ctx, act.IDs, ans)
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%s: %s", output.HowMany(len(done.Answered), "approval", "approvals"), act.Answer)
	if n := len(done.Failed); n > 0 {
		text += fmt.Sprintf("; %d not answered: %s", n, done.Failed[0].Error.Message)
	}
	return text
}

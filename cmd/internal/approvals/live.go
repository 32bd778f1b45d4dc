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

// Live is the state of the live approval list. Approvals and keys go in, screens and answers come out; it does no I/O.
type Live struct {
	rows      []entry
	selected  int    // index of the selected row in rows
	pageRows  int    // number of rows shown by the last Screen: how far Page Up and Page Down move
	note      string // outcome of the last answer
	full      bool   // the selected row is shown in full
	grouped   bool   // each row is a group. Only Tab changes this, so new requests never change what a key answers
	isSet     bool   // Set has been called, which chooses the initial grouping
	all       []api.Approval
	rejecting *reason // rejection whose reason the user is typing; nil if unset
}

// reason is a rejection while the user types its feedback.
type reason struct {
	act  Action // the rejection to send
	text []rune // typed so far
}

// maxReason limits the feedback, in characters.
const maxReason = 1000

// entry is a row of the list: one approval, or a group of similar ones.
type entry struct {
	key       string // identifies the row when the list changes: an approval's id or a group's name
	approvals []*api.Approval
}

// Action is the result of a key: quit, or an answer to send.
type Action struct {
	Quit     bool
	IDs      []string // approvals to answer
	Answer   string
	Feedback string
}

// Set replaces the pending approvals. The selection stays on its row while that exists. A long first list starts
// grouped.
func (l *Live) Set(list []api.Approval) {
	if !l.isSet {
		l.isSet, l.grouped = true, len(list) >= Grouped
	}
	l.all = list
	l.arrange()
}

// arrange rebuilds the rows.
func (l *Live) arrange() {
	chosen := ""
	if l.selected < len(l.rows) {
		chosen = l.rows[l.selected].key
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
			l.rows = append(l.rows, entry{key: name})
		}
		l.rows[k].approvals = append(l.rows[k].approvals, v)
	}
	if k, ok := at[chosen]; ok {
		l.selected = k
	}
	l.move(0)
}

// move moves the selection by a number of rows.
func (l *Live) move(rows int) { l.selected = max(0, min(l.selected+rows, len(l.rows)-1)) }

// Note shows a line of text below the list.
func (l *Live) Note(text string) { l.note = output.Printable(text) }

var answerKeys = map[byte]string{'1': "once", '2': "session", '3': "always", '4': "reject"}

// Key handles the bytes of one read from the terminal.
func (l *Live) Key(in []byte) Action {
	if l.rejecting != nil {
		return l.typeReason(string(in))
	}
	switch string(in) {
	case "\x1b[A", "\x1bOA", "k":
		l.move(-1)
	case "\x1b[B", "\x1bOB", "j":
		l.move(1)
	case "\x1b[5~":
		l.move(-max(1, l.pageRows))
	case "\x1b[6~":
		l.move(max(1, l.pageRows))
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
	if len(in) != 1 || answerKeys[in[0]] == "" || l.selected >= len(l.rows) {
		return Action{}
	}
	act := Action{Answer: answerKeys[in[0]]}
	for _, v := range l.rows[l.selected].approvals { // those that are shown, and none that has come since
		if why := answerProblem(v, act.Answer); why != "" {
			l.Note(v.ID + ": " + why)
			return Action{}
		}
		act.IDs = append(act.IDs, v.ID)
	}
	if act.Answer == "reject" { // a rejection is final, and the caller should know why
		l.rejecting = &reason{act: act}
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

// typeReason handles bytes typed while the user enters the reason for a rejection.
func (l *Live) typeReason(in string) Action {
	r := l.rejecting
	switch in {
	case "\r", "\n":
		l.rejecting = nil
		r.act.Feedback = strings.TrimSpace(string(r.text))
		return r.act
	case "\x1b", "\x03", "\x04":
		l.rejecting = nil
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

// line returns the feedback prompt, with only the end of a long text.
func (r *reason) line(cols int) string {
	what := r.act.IDs[0]
	if n := len(r.act.IDs); n > 1 {
		what = output.CountNoun(n, "approval", "approvals")
	}
	head := "reject " + what + " (Enter; Escape cancels), reason: "
	text := r.text[max(0, len(r.text)-max(0, cols-1-len(head))):]
	return head + string(text)
}

// keys returns the help line of the keys.
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

// Screen returns the whole screen, with line ends for a raw terminal.
func (l *Live) Screen(cols, rows int) []byte {
	var b strings.Builder
	b.WriteString("\x1b[H\x1b[2J")
	head := output.CountNoun(len(l.all), "approval", "approvals")
	if l.grouped {
		head += " in " + output.CountNoun(len(l.rows), "group", "groups")
	}
	lines := []string{head + " pending   " + l.keys()}
	if len(lines[0]) >= cols {
		lines = []string{head + " pending", l.keys()}
	}
	l.pageRows = max(1, rows-2-len(lines))
	if l.full && l.selected < len(l.rows) {
		lines = append(lines, l.rows[l.selected].lines()...)
	} else {
		from := max(0, min(l.selected-l.pageRows/2, len(l.rows)-l.pageRows))
		for i := from; i < len(l.rows) && i < from+l.pageRows; i++ {
			mark := "  "
			if i == l.selected {
				mark = "> "
			}
			lines = append(lines, mark+l.rows[i].line(l.grouped))
			if v := l.rows[i].approvals[0]; i == l.selected && len(l.rows[i].approvals) == 1 {
				for _, e := range v.Judgement.Explain() {
					lines = append(lines, "        → "+output.Printable(e))
				}
			}
		}
	}
	if len(lines) > rows-1 {
		lines = lines[:max(1, rows-1)]
	}
	for _, line := range lines {
		b.WriteString(output.Shorten(line, max(1, cols-1)) + "\r\n")
	}
	last := l.note
	if l.rejecting != nil {
		last = l.rejecting.line(cols)
	}
	b.WriteString(output.Shorten(last, max(1, cols-1)))
	return []byte(b.String())
}

// line returns the short form of a row.
func (e *entry) line(grouped bool) string {
	v := e.approvals[0]
	if grouped {
		return fmt.Sprintf("%4d %-6s %-12s %-36s %s", len(e.approvals), v.Risk, output.Shorten(Asker(v), 12), output.Shorten(inLine(e.key), 36), What(v))
	}
	return fmt.Sprintf("%-5s %-7s %-6s %-12s %s", v.ID, output.Elapsed(time.Since(v.Asked).Milliseconds()), v.Risk, output.Shorten(Asker(v), 12), What(v))
}

// lines returns the full form of a row: for a group, one line per request.
func (e *entry) lines() (lines []string) {
	if len(e.approvals) == 1 {
		var text strings.Builder
		Show(&text, e.approvals[0])
		return strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	}
	lines = append(lines, fmt.Sprintf("%s: %d approvals", inLine(e.key), len(e.approvals)))
	for _, v := range e.approvals {
		one := entry{approvals: []*api.Approval{v}}
		lines = append(lines, "  "+one.line(false))
	}
	return lines
}

// Source provides the approvals and accepts answers.
type Source interface {
	Pending(ctx context.Context) ([]api.Approval, error)
	Answer(ctx context.Context, id string, ans api.ApprovalAnswer) (api.Approval, error)
	AnswerAll(ctx context.Context, ids []string, ans api.ApprovalAnswer) (api.ApprovalsAnswered, error)
}

// Screen is the terminal on which the list is drawn.
type Screen interface {
	Draw([]byte) error
	Size() (cols, rows int)
}

// Run shows the list until q is pressed or ctx ends. changed signals new requests; resized signals a new size of the
// terminal.
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
			l.Note(sendAnswer(ctx, src, act))
			load = true
		}
	}
}

// sendAnswer sends an answer, and returns its outcome as text.
func sendAnswer(ctx context.Context, src Source, act Action) string {
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
	text := fmt.Sprintf("%s: %s", output.CountNoun(len(done.Answered), "approval", "approvals"), act.Answer)
	if n := len(done.Failed); n > 0 {
		text += fmt.Sprintf("; %d not answered: %s", n, done.Failed[0].Error.Message)
	}
	return text
}

//go:build unix

package tmuxcompat

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/client"
)

func hasSession(x *command) error {
	_, err := x.session(x.flag('t'))
	return err
}

// print prints a line for each pane that passes the filter.
func (x *command) print(panes []*pane, format string) error {
	if f := x.flag('F'); x.has('F') {
		format = f
	}
	for _, p := range panes {
		if filter := x.flag('f'); filter != "" && !truth(x.format(filter, p)) {
			continue
		}
		if _, err := fmt.Fprintln(x.Stdout, x.format(format, p)); err != nil {
			return err
		}
	}
	return nil
}

func listSessions(x *command) error {
	var active []*pane
	for _, p := range x.sessions() {
		active = append(active, x.activeOf(p.Session))
	}
	return x.print(active, "#{session_name}: #{session_windows} windows (created #{t:session_created})#{?session_attached, (attached),}")
}

func listWindows(x *command) error {
	format := "#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) " +
		"[#{window_width}x#{window_height}] [layout #{window_layout}] #{window_id}#{?window_active, (active),}"
	panes := x.panes
	if x.has('a') {
		format = "#{session_name}:" + format
	} else {
		name, err := x.session(x.flag('t'))
		if err != nil {
			return err
		}
		panes = x.inSession(name)
	}
	var active []*pane
	for _, p := range windows(panes) {
		active = append(active, activeIn(x.inWindow(p.Window)))
	}
	return x.print(active, format)
}

func listPanes(x *command) error {
	format := "#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, " +
		"#{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}"
	panes := x.panes
	switch {
	case x.has('a'):
		format = "#{session_name}:#{window_index}." + format
	case x.has('s'):
		name, err := x.session(x.flag('t'))
		if err != nil {
			return err
		}
		panes, format = x.inSession(name), "#{window_index}."+format
	default:
		var err error
		if panes, err = x.window(x.flag('t')); err != nil {
			return err
		}
	}
	return x.print(panes, format)
}

// displayMessage implements display-message. For a missing target variables are empty.
func displayMessage(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil && strings.HasPrefix(x.flag('t'), "%") {
		return err
	}
	format := "[#{session_name}] #{window_index}:#{window_name}, current pane #{pane_index} - (%H:%M %d-%b-%y)"
	switch {
	case len(x.args) > 0:
		format = x.args[0]
	case x.has('F'):
		format = x.flag('F')
	}
	if !x.has('p') {
		return nil // there is no status line to show it
	}
	_, err = fmt.Fprintln(x.Stdout, x.format(strftime(format, time.Now()), p))
	return err
}

// strftimeLayouts maps strftime's conversions to Go's time layouts.
var strftimeLayouts = map[byte]string{
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'd': "02", 'e': "_2", 'm': "01", 'b': "Jan", 'B': "January", 'y': "06", 'Y': "2006",
	'a': "Mon", 'A': "Monday", 'R': "15:04", 'T': "15:04:05", 'D': "01/02/06", 'F': "2006-01-02", 'Z': "MST", 'z': "-0700", 'j': "002",
}

// strftime expands conversions in a text with a time.
func strftime(text string, t time.Time) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+1 < len(text) {
			if layout := strftimeLayouts[text[i+1]]; layout != "" {
				out.WriteString(t.Format(layout))
				i++
				continue
			}
			if text[i+1] == '%' {
				i++
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// capturePane implements capture-pane.
func capturePane(x *command) error {
	p, err := x.pane(x.flag('t'))
	if err != nil {
		return err
	}
	if x.has('P') {
		return nil // what is not yet a whole sequence is nowhere
	}
	q := client.ScreenQuery{}
	start, end := x.lines()
	if above := min(start, end); above < 0 {
		q.Scrollback = strconv.Itoa(max(above, -maxHistoryLines)) + ":"
	}
	if x.has('a') {
		if !p.s.Alt {
			if x.has('q') {
				_, err := fmt.Fprintln(x.Stdout)
				return err
			}
			return fail("no alternate screen")
		}
		q.Screen = "primary" // what tmux has saved while a full-screen program is up
	}
	screen, err := x.daemon.Session(p.s.ID).Screen(x.ctx, q)
	if err != nil {
		return err
	}
	all := screen.Grid() // the history first
	first, last := line(start, len(screen.Scrollback), len(all)), line(end, len(screen.Scrollback), len(all))
	if last < first {
		first, last = last, first
	}
	var out strings.Builder
	for i := first; i <= last; i++ {
		x.writeLine(&out, &all[i])
		if !x.has('J') || !all[i].Wrapped {
			out.WriteByte('\n')
		}
	}
	if !x.has('p') {
		return x.withLock(func() error { return x.putBuffer(x.flag('b'), []byte(out.String())) })
	}
	_, err = fmt.Fprint(x.Stdout, out.String())
	return err
}

// line returns the index of line n of -S or -E, among history lines above the screen and all lines in total.
func line(n, history, all int) int {
	if n >= all {
		return all - 1
	}
	return min(max(0, history+n), all-1)
}

// maxHistoryLines is the largest number of history lines read at once.
const maxHistoryLines = 100_000

// lines returns the values of -S and -E: screen lines count from 0, history lines are negative, - is the start of the
// history or the end of the screen.
func (x *command) lines() (start, end int) {
	var err error
	start, end = 0, math.MaxInt
	switch text := x.flag('S'); text {
	case "":
	case "-":
		start = -maxHistoryLines
	default:
		if start, err = strconv.Atoi(text); err != nil {
			start = 0 // as tmux has it
		}
	}
	switch text := x.flag('E'); text {
	case "", "-":
	default:
		if end, err = strconv.Atoi(text); err != nil {
			end = math.MaxInt
		}
	}
	return start, end
}

// writeLine writes a row: with -e its attributes, with -N its trailing blanks.
func (x *command) writeLine(out *strings.Builder, l *render.Line) {
	if !x.has('e') {
		text := l.Text
		if !x.has('N') && !x.has('J') {
			text = strings.TrimRight(text, " ")
		}
		out.WriteString(text)
		return
	}
	at, styled := 0, false
	for i := range l.Spans {
		s := &l.Spans[i]
		code := sgr(s)
		if strings.TrimSpace(s.Text) == "" && code == "" && i == len(l.Spans)-1 {
			break
		}
		out.WriteString(strings.Repeat(" ", max(0, s.Col-at)))
		if styled && code == "" {
			out.WriteString("\x1b[0m")
		} else if code != "" {
			out.WriteString("\x1b[0;" + code + "m")
		}
		styled = code != ""
		out.WriteString(s.Text)
		at = s.Col + s.Width
	}
	if styled {
		out.WriteString("\x1b[0m")
	}
}

// sgr returns a span's attributes as SGR parameters (ECMA-48 §8.3.117).
func sgr(s *render.Span) string {
	var codes []string
	for _, a := range []struct {
		on   bool
		code string
	}{
		{s.Bold, "1"}, {s.Dim, "2"}, {s.Italic, "3"}, {s.Underline != "", "4"}, {s.Blink, "5"}, {s.Inverse, "7"}, {s.Conceal, "8"}, {s.Strike, "9"},
	} {
		if a.on {
			codes = append(codes, a.code)
		}
	}
	codes = append(codes, colour(s.FG, s.FGIndex, 30), colour(s.BG, s.BGIndex, 40))
	return strings.Join(slices.DeleteFunc(codes, func(c string) bool { return c == "" }), ";")
}

// colour returns a colour as an SGR parameter; base is 30 or 40.
func colour(rgb string, index *uint8, base int) string {
	switch {
	case index != nil && *index < 8:
		return strconv.Itoa(base + int(*index))
	case index != nil && *index < 16:
		return strconv.Itoa(base + 60 + int(*index) - 8)
	case index != nil:
		return fmt.Sprintf("%d;5;%d", base+8, *index)
	case len(rgb) == 7:
		n, err := strconv.ParseUint(rgb[1:], 16, 32)
		if err != nil {
			return ""
		}
		return fmt.Sprintf("%d;2;%d;%d;%d", base+8, n>>16, n>>8&255, n&255)
	}
	return ""
}

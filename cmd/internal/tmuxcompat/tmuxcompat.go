//go:build unix

// Package tmuxcompat answers tmux's commands with longterm's sessions, for programs that drive tmux: a pane is a
// session of longterm, and which window and which session of tmux it belongs to stands in its label, so that nothing
// is kept but what the daemon keeps anyway.
//
//	Run: options → commands between ; → getopt by the table → a function of its concept
//	state.go    panes by their labels, numbers that are given once, the lock of what changes them
//	target.go   -t: %1, @1, $1, name:window.pane; where.go: {top-left}, {left-of}
//	layout.go   how a window is divided, pure; layoutchange.go: what changes it; layouttext.go: as a text;
//	            divided.go: kept, and the panes' sizes by it; sizes.go: the commands
//	format.go   #{…}, pure; vars.go has the variables
//	start.go    new-session, new-window, split-window
//	send.go     send-keys
//	show.go     what prints
//	change.go   what ends, selects, renames and resizes; move.go: respawn-pane, break-pane, join-pane;
//	            swap.go: what changes places; instead.go: what is not done
//
// Texts and exit statuses are tmux's own. What tmux draws (a status line, borders, copy mode) is not there; options
// about it are accepted.
package tmuxcompat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// Version is the tmux that is answered for.
const Version = "tmux 3.3a"

// Daemon is what is asked of the daemon.
type Daemon interface {
	List(ctx context.Context, labels ...string) ([]api.Session, error)
	NewSession(ctx context.Context, n api.NewSession) (api.Session, error)
	Session(ref string) *client.Session
	Status(ctx context.Context) (api.Status, error)
}

// Options are one call of tmux.
type Options struct {
	Daemon   func() (Daemon, error) // connected to on first use
	Numbers  string                 // the file of numbers that were given; its folder is there
	RunDir   string                 // names the socket that $TMUX tells of
	Env      []string
	Cwd      string
	Terminal bool // somebody sits there
	// Show attaches a terminal to sessions, by their ids.
	Show func(ctx context.Context, ids []string) error
	// Pipe is `longterm pipe`, with its arguments.
	Pipe           func(ctx context.Context, args ...string) error
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// call is a call of tmux.
type call struct {
	Options
	socket string // -L, or what -S names
	daemon Daemon
	panes  []*pane // that live, in order; read for each command
	trees  map[int]*divided
	pipes  map[string]bool // ids of sessions whose output goes to a command
	file   *numbers
	nested int // commands in commands
	loops  int // formats in formats
	pid    int // of the daemon, once asked
}

// command is a command with its arguments.
type command struct {
	*call
	ctx   context.Context
	row   *row
	name  string
	flags map[byte][]string // by letter; without a value: one empty text
	args  []string
}

// row is a row of the table of commands.
type row struct {
	name, alias, flags string // flags as getopt has them
	do                 func(*command) error
	alone              bool // it needs no server
}

var table []row

func init() { // the functions look at the table
	table = []row{
		{"attach-session", "attach", "c:dEf:rt:x", attach, false},
		{"break-pane", "breakp", "abdPF:n:s:t:", breakPane, false},
		{"capture-pane", "capturep", "ab:CeE:JNpPqS:t:", capturePane, false},
		{"display-message", "display", "ac:d:INpt:F:v", displayMessage, false},
		{"has-session", "has", "t:", hasSession, false},
		{"join-pane", "joinp", "bdfhvp:l:s:t:", joinPane, false},
		{"kill-pane", "killp", "at:", killPane, false},
		{"kill-server", "", "", killServer, false},
		{"kill-session", "", "aCt:", killSession, false},
		{"kill-window", "killw", "at:", killWindow, false},
		{"last-pane", "lastp", "det:Z", lastPane, false},
		{"last-window", "last", "t:", otherWindow('l'), false},
		{"list-panes", "lsp", "asF:f:t:", listPanes, false},
		{"list-sessions", "ls", "F:f:", listSessions, false},
		{"list-windows", "lsw", "F:f:at:", listWindows, false},
		{"list-commands", "lscm", "F:", listCommands, true},
		{"new-session", "new", "Ac:dDe:EF:f:n:Ps:t:x:Xy:", newSession, true},
		{"new-window", "neww", "abc:de:F:kn:PSt:", newWindow, false},
		{"next-layout", "nextl", "t:", selectLayout, false},
		{"next-window", "next", "at:", otherWindow('n'), false},
		{"previous-layout", "prevl", "t:", selectLayout, false},
		{"previous-window", "prev", "at:", otherWindow('p'), false},
		{"refresh-client", "refresh", "A:B:cC:Df:r:F:l::LRSt:U", accepted, false},
		{"rename-session", "rename", "t:", renameSession, false},
		{"rename-window", "renamew", "t:", renameWindow, false},
		{"resize-pane", "resizep", "DLMRTt:Ux:y:Z", resizePane, false},
		{"resize-window", "resizew", "aADLRt:Ux:y:", resizeWindow, false},
		{"respawn-pane", "respawnp", "c:e:kt:", respawnPane, false},
		{"rotate-window", "rotatew", "Dt:UZ", rotateWindow, false},
		{"select-layout", "selectl", "Enopt:", selectLayout, false},
		{"select-pane", "selectp", "DdegLlMmP:RT:t:UZ", selectPane, false},
		{"select-window", "selectw", "lnpTt:", selectWindow, false},
		{"send-keys", "send", "FHKlMN:Rt:X", sendKeys, false},
		{"set-environment", "setenv", "Fhgrt:u", setEnvironment, false},
		{"set-hook", "", "agpRt:uw", accepted, false},
		{"set-option", "set", "aFgopqst:uUw", setOption, false},
		{"set-window-option", "setw", "aFgoqt:u", setOption, false},
		{"show-options", "show", "AgHpqst:vw", showOptions, false},
		{"show-window-options", "showw", "gvt:", showOptions, false},
		{"source-file", "source", "Fnqv", sourceFile, true},
		{"show-environment", "showenv", "hgst:", showEnvironment, false},
		{"switch-client", "switchc", "c:EFlnO:pt:rT:Z", accepted, false},
		{"swap-pane", "swapp", "dDs:t:UZ", swapPane, false},
		{"split-window", "splitw", "bc:de:fF:hIl:p:Pt:vZ", splitWindow, false},
		{"start-server", "start", "", accepted, true},
		{"set-buffer", "setb", "ab:t:n:w", setBuffer, false},
		{"show-buffer", "showb", "b:", saveBuffer, false},
		{"save-buffer", "saveb", "ab:", saveBuffer, false},
		{"load-buffer", "loadb", "b:t:w", loadBuffer, false},
		{"delete-buffer", "deleteb", "b:", deleteBuffer, false},
		{"paste-buffer", "pasteb", "db:prs:t:", pasteBuffer, false},
		{"list-buffers", "lsb", "F:f:", listBuffers, false},
		{"wait-for", "wait", "LSU", waitFor, false},
		{"run-shell", "run", "bd:Ct:c:", runShell, false},
		{"if-shell", "if", "bFt:", ifShell, false},
		{"pipe-pane", "pipep", "IOot:", pipePane, false},
		{"move-window", "movew", "abdkrs:t:", moveWindow, false},
		{"swap-window", "swapw", "ds:t:", swapWindow, false},
		{"respawn-window", "respawnw", "c:e:kt:", respawnWindow, false},
		{"list-clients", "lsc", "F:f:t:", accepted, false},
		{"detach-client", "detach", "aE:Ps:t:", detachClient, false},
		{"unbind-key", "unbind", "anqT:", accepted, true},
		{"bind-key", "bind", "nrN:T:", accepted, false},
	}
}

// failure is what tmux says, and exits with 1.
type failure string

func (f failure) Error() string { return string(f) }

func fail(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// Run is a call of tmux; it returns the exit status.
func Run(ctx context.Context, o Options, args []string) int {
	c := &call{Options: o, socket: "default"}
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		flags, rest, err := getopt("2CDlNquvVc:f:L:S:T:", args)
		if err != nil {
			return c.tell(err)
		}
		if len(flags['V']) > 0 {
			fmt.Fprintln(o.Stdout, Version)
			return 0
		}
		for _, name := range append(flags['L'], flags['S']...) {
			c.socket = name[strings.LastIndexByte(name, '/')+1:]
		}
		args = rest
	}
	if len(args) == 0 {
		args = []string{"new-session"}
	}
	commands := split(args)
	for _, words := range commands { // what is a slip is said before anything is done
		if _, err := c.parse(ctx, words); err != nil {
			return c.tell(err)
		}
	}
	for _, words := range commands {
		if err := c.run(ctx, words); err != nil {
			return c.tell(err)
		}
	}
	return 0
}

func (c *call) tell(err error) int {
	var f failure
	var apiErr *api.Error
	var code status
	switch {
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &f):
		fmt.Fprintln(c.Stderr, f)
	case errors.As(err, &apiErr) && apiErr.Hint != "" && !strings.Contains(err.Error(), apiErr.Hint):
		fmt.Fprintf(c.Stderr, "%v: %s\n", err, apiErr.Hint)
	default:
		fmt.Fprintln(c.Stderr, err)
	}
	return 1
}

// split cuts words at those that are or end with ; (a \; is one of a command).
func split(args []string) (commands [][]string) {
	var now []string
	for _, a := range args {
		switch {
		case a == ";":
			commands, now = append(commands, now), nil
		case strings.HasSuffix(a, `\;`):
			now = append(now, a[:len(a)-2]+";")
		case strings.HasSuffix(a, ";"):
			commands, now = append(commands, append(now, a[:len(a)-1])), nil
		default:
			now = append(now, a)
		}
	}
	if len(now) > 0 {
		commands = append(commands, now)
	}
	return commands
}

// parse is a command of its words; without any there is none.
func (c *call) parse(ctx context.Context, words []string) (*command, error) {
	if len(words) == 0 {
		return nil, nil
	}
	r, err := lookUp(words[0])
	if err != nil {
		return nil, err
	}
	flags, args, err := getopt(r.flags, words[1:])
	if err != nil {
		return nil, fail("command %s: %v", r.name, err)
	}
	if limit, ok := most[r.name]; ok && len(args) > limit || slices.Contains(bare, r.name) && len(args) > 0 {
		return nil, fail("command %s: too many arguments (need at most %d)", r.name, limit)
	}
	return &command{call: c, ctx: ctx, row: r, name: r.name, flags: flags, args: args}, nil
}

func (c *call) run(ctx context.Context, words []string) error {
	x, err := c.parse(ctx, words)
	if x == nil || err != nil {
		return err
	}
	r := x.row
	if r.name == "list-commands" || r.name == "start-server" || r.name == "source-file" {
		return r.do(x)
	}
	if c.daemon == nil {
		if c.daemon, err = c.Daemon(); err != nil {
			return err
		}
	}
	if !slices.Contains(looking, r.name) {
		return c.locked(func() error {
			if err := c.refresh(x); err != nil {
				return err
			}
			return x.do()
		})
	}
	if err := c.read(ctx); err != nil {
		return err
	}
	if len(c.staleWindows()) > 0 { // the lock is not held while it is done: it may run commands that need it
		if err := c.locked(func() error { return c.refresh(x) }); err != nil {
			return err
		}
	}
	return x.do()
}

// refresh reads the panes, and gives those that are left the room of those that ended by themselves.
func (c *call) refresh(x *command) error {
	if err := c.read(x.ctx); err != nil {
		return err
	}
	return x.settle(c.staleWindows()...)
}

func (x *command) do() error {
	if len(x.panes) == 0 && !x.row.alone {
		return fail("no server running on %s", x.socketPath())
	}
	return x.row.do(x)
}

// looking are commands that change no labels, and so need not wait for others.
var looking = []string{
	"capture-pane", "display-message", "has-session", "list-panes", "list-sessions", "list-windows", "send-keys", "show-options", "attach-session",
	"show-window-options", "show-environment", "show-buffer", "save-buffer", "list-buffers", "wait-for", "run-shell", "if-shell", "pipe-pane",
}

// bare are commands that take flags only: what stands behind them is a slip, and a kill of what was not meant.
var bare = []string{
	"attach-session", "break-pane", "capture-pane", "has-session", "join-pane", "kill-pane", "kill-server", "kill-session", "kill-window",
	"last-pane", "last-window", "list-panes", "list-sessions", "list-windows", "next-window", "previous-window", "rotate-window",
	"select-pane", "select-window", "start-server", "swap-pane", "switch-client", "show-buffer", "delete-buffer", "paste-buffer", "list-buffers", "move-window",
	"swap-window", "next-layout", "previous-layout", "list-clients", "detach-client",
}

// most is how many arguments other commands take.
var most = map[string]int{
	"display-message": 1, "rename-session": 1, "rename-window": 1, "resize-pane": 1, "resize-window": 1, "select-layout": 1, "show-options": 1, "show-window-options": 1,
	"show-environment": 1, "set-buffer": 1, "load-buffer": 1, "save-buffer": 1, "wait-for": 1, "pipe-pane": 1, "set-option": 2, "set-window-option": 2,
	"set-environment": 2, "if-shell": 3, "list-commands": 1,
}

// lookUp is a command by its name, alias or what its name alone begins with.
func lookUp(word string) (*row, error) {
	var found []*row
	var names []string
	for i := range table {
		r := &table[i]
		switch {
		case r.name == word || r.alias == word:
			return r, nil
		case strings.HasPrefix(r.name, word):
			found, names = append(found, r), append(names, r.name)
		}
	}
	switch len(found) {
	case 0:
		if how := instead(word); how != "" {
			return nil, fail("unknown command: %s\nlongterm does not answer for it: %s", word, how)
		}
		return nil, fail("unknown command: %s", word)
	case 1:
		return found[0], nil
	}
	slices.Sort(names)
	return nil, fail("ambiguous command: %s, could be: %s", word, strings.Join(names, ", "))
}

// getopt reads flags as tmux's own does: they stand before the first argument.
func getopt(spec string, args []string) (map[byte][]string, []string, error) {
	flags := map[byte][]string{}
	for len(args) > 0 {
		a := args[0]
		if a == "--" {
			return flags, args[1:], nil
		}
		if len(a) < 2 || a[0] != '-' {
			break
		}
		args = args[1:]
		for a = a[1:]; a != ""; a = a[1:] {
			i := strings.IndexByte(spec, a[0])
			if i < 0 || a[0] == ':' {
				return nil, nil, fmt.Errorf("unknown flag -%c", a[0])
			}
			if i+1 == len(spec) || spec[i+1] != ':' {
				flags[a[0]] = append(flags[a[0]], "")
				continue
			}
			value := a[1:]
			if value == "" {
				if len(args) == 0 {
					return nil, nil, fmt.Errorf("-%c expects an argument", a[0])
				}
				value, args = args[0], args[1:]
			}
			flags[a[0]] = append(flags[a[0]], value)
			break
		}
	}
	return flags, args, nil
}

func (x *command) has(flag byte) bool { return len(x.flags[flag]) > 0 }

// flag is a flag's last value; empty: it is not given.
func (x *command) flag(flag byte) string {
	if all := x.flags[flag]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// accepted does nothing: it is about what tmux draws, or about what is as wished.
func accepted(*command) error { return nil }

// sourceFile is source-file: keys and looks are not taken from there, but a file has to be.
func sourceFile(x *command) error {
	for _, path := range x.args {
		if _, err := os.Stat(x.path(path)); err != nil && path != "-" && !x.has('q') {
			return fileFailure(path, err)
		}
	}
	return nil
}

// detachClient is detach-client: nobody is attached as tmux has it.
func detachClient(*command) error {
	return fail("no current client\n`longterm clients SESSION` lists who is there, `--detach N` takes one off")
}

func listCommands(x *command) error {
	for i := range table {
		if table[i].alias != "" {
			fmt.Fprintf(x.Stdout, "%s (%s)\n", table[i].name, table[i].alias)
		} else {
			fmt.Fprintln(x.Stdout, table[i].name)
		}
	}
	return nil
}

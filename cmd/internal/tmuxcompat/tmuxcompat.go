//go:build unix

// Package tmuxcompat runs tmux's commands on longterm's sessions, for programs that drive tmux. A pane is a session of
// longterm; labels record its tmux window and session, so most state is in the daemon.
//
//	Run: options → commands between ; → getopt by the table → a function per command
//	state.go    panes by their labels, unique numbers, the lock for changes
//	target.go   -t: %1, @1, $1, name:window.pane; where.go: {top-left}, {left-of}
//	layout.go   division of a window, pure; layoutchange.go: changes; layouttext.go: text form;
//	            divided.go: stored layouts and panes' sizes; sizes.go: the commands
//	format.go   #{…}, pure; vars.go: the variables
//	start.go    new-session, new-window, split-window
//	send.go     send-keys
//	show.go     commands that print
//	change.go   commands that end, select, rename and resize; move.go: respawn-pane, break-pane, join-pane;
//	            swap.go: exchanges of places; instead.go: unsupported commands
//
// Texts and exit statuses are tmux's own. tmux's drawing (status line, borders, copy mode) is not supported; options
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

// Version is the tmux version that longterm claims to be.
const Version = "tmux 3.3a"

// Daemon is the part of the client that this package uses.
type Daemon interface {
	List(ctx context.Context, labels ...string) ([]api.Session, error)
	NewSession(ctx context.Context, n api.NewSession) (api.Session, error)
	Session(ref string) *client.Session
	Status(ctx context.Context) (api.Status, error)
}

// Options are the parameters of one call of tmux.
type Options struct {
	Daemon   func() (Daemon, error) // connected to on first use
	Numbers  string                 // path of the state file; its directory exists
	RunDir   string                 // directory of the socket named in $TMUX
	Env      []string
	Cwd      string
	Terminal bool // a user is at a terminal
	// Show shows sessions in the viewer, by their ids.
	Show func(ctx context.Context, ids []string) error
	// Pipe runs `longterm pipe` with these arguments.
	Pipe           func(ctx context.Context, args ...string) error
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// call is one execution of the tmux command line.
type call struct {
	Options
	socket string // name of the server's socket (-L or -S)
	daemon Daemon
	panes  []*pane              // live panes in order, read before each command
	trees  map[int]*windowSplit // layouts of windows, by number
	pipes  map[string]bool      // ids of sessions whose output goes to a command
	state  *serverState
	nested int // depth of commands that run commands
	loops  int // depth of loops in formats
	pid    int // pid of the daemon, once known
}

// command is a tmux command with its arguments.
type command struct {
	*call
	ctx   context.Context
	spec  *commandSpec // the command's row in the table
	name  string
	flags map[byte][]string // values of flags by letter; a flag without a value has one empty text
	args  []string
}

// commandSpec describes a tmux command.
type commandSpec struct {
	name, alias, flags string // flags as getopt has them
	do                 func(*command) error
	noServer           bool // the command needs no server
}

// table lists the supported commands.
var table []commandSpec

func init() { // the functions look at the table
	table = []commandSpec{
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
		{"refresh-client", "refresh", "A:B:cC:Df:r:F:l::LRSt:U", acceptWithoutEffect, false},
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
		{"set-hook", "", "agpRt:uw", acceptWithoutEffect, false},
		{"set-option", "set", "aFgopqst:uUw", setOption, false},
		{"set-window-option", "setw", "aFgoqt:u", setOption, false},
		{"show-options", "show", "AgHpqst:vw", showOptions, false},
		{"show-window-options", "showw", "gvt:", showOptions, false},
		{"source-file", "source", "Fnqv", sourceFile, true},
		{"show-environment", "showenv", "hgst:", showEnvironment, false},
		{"switch-client", "switchc", "c:EFlnO:pt:rT:Z", acceptWithoutEffect, false},
		{"swap-pane", "swapp", "dDs:t:UZ", swapPane, false},
		{"split-window", "splitw", "bc:de:fF:hIl:p:Pt:vZ", splitWindow, false},
		{"start-server", "start", "", acceptWithoutEffect, true},
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
		{"list-clients", "lsc", "F:f:t:", acceptWithoutEffect, false},
		{"detach-client", "detach", "aE:Ps:t:", detachClient, false},
		{"unbind-key", "unbind", "anqT:", acceptWithoutEffect, true},
		{"bind-key", "bind", "nrN:T:", acceptWithoutEffect, false},
	}
}

// failure is an error with tmux's text; the exit status is 1.
type failure string

func (f failure) Error() string { return string(f) }

func fail(format string, args ...any) error { return failure(fmt.Sprintf(format, args...)) }

// Run executes a call of tmux and returns the exit status.
func Run(ctx context.Context, o Options, args []string) int {
	c := &call{Options: o, socket: "default"}
	if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		flags, rest, err := getopt("2CDlNquvVc:f:L:S:T:", args)
		if err != nil {
			return c.printError(err)
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
	for _, words := range commands { // mistakes are reported before any command runs
		if _, err := c.parse(ctx, words); err != nil {
			return c.printError(err)
		}
	}
	for _, words := range commands {
		if err := c.run(ctx, words); err != nil {
			return c.printError(err)
		}
	}
	return 0
}

func (c *call) printError(err error) int {
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

// split splits words into commands at words that are ; or end with it. A \; is an argument.
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

// parse returns the command for its words, or nil without words.
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
	if limit, ok := maxArgs[r.name]; ok && len(args) > limit || slices.Contains(noArgCommands, r.name) && len(args) > 0 {
		return nil, fail("command %s: too many arguments (need at most %d)", r.name, limit)
	}
	return &command{call: c, ctx: ctx, spec: r, name: r.name, flags: flags, args: args}, nil
}

// run runs one command.
func (c *call) run(ctx context.Context, words []string) error {
	x, err := c.parse(ctx, words)
	if x == nil || err != nil {
		return err
	}
	r := x.spec
	if r.name == "list-commands" || r.name == "start-server" || r.name == "source-file" {
		return r.do(x)
	}
	if c.daemon == nil {
		if c.daemon, err = c.Daemon(); err != nil {
			return err
		}
	}
	if !slices.Contains(readOnlyCommands, r.name) {
		return c.withLock(func() error {
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
		if err := c.withLock(func() error { return c.refresh(x) }); err != nil {
			return err
		}
	}
	return x.do()
}

// refresh reads the panes. The remaining panes of a window take the space of those that ended by themselves.
func (c *call) refresh(x *command) error {
	if err := c.read(x.ctx); err != nil {
		return err
	}
	return x.reclaimSpace(c.staleWindows()...)
}

func (x *command) do() error {
	if len(x.panes) == 0 && !x.spec.noServer {
		return fail("no server running on %s", x.socketPath())
	}
	return x.spec.do(x)
}

// readOnlyCommands lists the commands that change no labels and so need no lock.
var readOnlyCommands = []string{
	"capture-pane", "display-message", "has-session", "list-panes", "list-sessions", "list-windows", "send-keys", "show-options", "attach-session",
	"show-window-options", "show-environment", "show-buffer", "save-buffer", "list-buffers", "wait-for", "run-shell", "if-shell", "pipe-pane",
}

// noArgCommands lists the commands without arguments. An argument is an error; it could be a mistyped target.
var noArgCommands = []string{
	"attach-session", "break-pane", "capture-pane", "has-session", "join-pane", "kill-pane", "kill-server", "kill-session", "kill-window",
	"last-pane", "last-window", "list-panes", "list-sessions", "list-windows", "next-window", "previous-window", "rotate-window",
	"select-pane", "select-window", "start-server", "swap-pane", "switch-client", "show-buffer", "delete-buffer", "paste-buffer", "list-buffers", "move-window",
	"swap-window", "next-layout", "previous-layout", "list-clients", "detach-client",
}

// maxArgs is the largest number of arguments of other commands.
var maxArgs = map[string]int{
	"display-message": 1, "rename-session": 1, "rename-window": 1, "resize-pane": 1, "resize-window": 1, "select-layout": 1, "show-options": 1, "show-window-options": 1,
	"show-environment": 1, "set-buffer": 1, "load-buffer": 1, "save-buffer": 1, "wait-for": 1, "pipe-pane": 1, "set-option": 2, "set-window-option": 2,
	"set-environment": 2, "if-shell": 3, "list-commands": 1,
}

// lookUp returns a command by its name, alias or unique prefix.
func lookUp(word string) (*commandSpec, error) {
	var found []*commandSpec
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
		if how := suggestion(word); how != "" {
			return nil, fail("unknown command: %s\nlongterm does not answer for it: %s", word, how)
		}
		return nil, fail("unknown command: %s", word)
	case 1:
		return found[0], nil
	}
	slices.Sort(names)
	return nil, fail("ambiguous command: %s, could be: %s", word, strings.Join(names, ", "))
}

// getopt parses flags like tmux: they precede the first argument.
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

// flag returns a flag's last value, or "".
func (x *command) flag(flag byte) string {
	if all := x.flags[flag]; len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// acceptWithoutEffect does nothing. It implements commands about tmux's drawing, or whose effect is the default here.
func acceptWithoutEffect(*command) error { return nil }

// sourceFile implements source-file: it checks that the file exists, but applies no keys or styles from it.
func sourceFile(x *command) error {
	for _, path := range x.args {
		if _, err := os.Stat(x.path(path)); err != nil && path != "-" && !x.has('q') {
			return fileFailure(path, err)
		}
	}
	return nil
}

// detachClient implements detach-client: no client is attached in tmux's sense.
func detachClient(*command) error {
	return fail("no current client\nsee `longterm clients SESSION`, and `longterm clients SESSION --detach N`")
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

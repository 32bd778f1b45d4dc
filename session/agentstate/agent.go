package agentstate

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// State is the state of an agent.
type State string

// States.
const (
	Unknown       State = "unknown"
	Working       State = "working"
	NeedsInput    State = "needs_input"    // it waits for an answer from its user
	NeedsApproval State = "needs_approval" // it asks whether it may do something
	Done          State = "done"           // its task is done; it waits for more
	Idle          State = "idle"           // it waits for its first task
)

// States are all of them.
var States = []State{Working, NeedsInput, NeedsApproval, Done, Idle, Unknown}

// rest is the state, in rules and hooks, of an agent that waits for a task. Its previous state determines whether it
// becomes Done or Idle.
const rest State = "rest"

// Agent is what is known of a coding agent.
type Agent struct {
	Name    string `json:"agent"`
	Version int    `json:"version"` // of this knowledge
	Checked string `json:"checked"` // the newest version of the agent that was tested, or ""
	// Programs are names of its executable, Scripts parts of the paths that an interpreter runs.
	Programs []string        `json:"programs"`
	Scripts  []string        `json:"scripts"`
	Rules    []Rule          `json:"rules"`
	Hooks    map[string]Rule `json:"hooks"` // by event, or event/kind
	Resume   Resume          `json:"resume"`
	// SubmitAfter is how long after a paste an Enter submits it, in milliseconds: some take one that
	// comes sooner for a part of it.
	SubmitAfter int `json:"submit_after_ms,omitempty"`

	once sync.Once // compiles the rules
}

// Rule maps a screen, or a hook's event, to a state. All its conditions must match.
type Rule struct {
	State  State    `json:"state"`
	Reason string   `json:"reason"`
	Title  string   `json:"title,omitempty"` // RE2, of the window's title
	Rows   []string `json:"rows,omitempty"`  // RE2, each of some row of the last Last
	None   []string `json:"none,omitempty"`  // RE2, of no row of those
	Last   int      `json:"last,omitempty"`  // rows from the last that is not empty; 0: 12
	// Weak marks a hook that counts only if the screen does not contradict it.
	Weak bool `json:"weak,omitempty"`

	title      *regexp.Regexp
	rows, none []*regexp.Regexp
}

// lastRows is the number of rows with an agent's status: above and below its input line.
const lastRows = 12

//go:embed rules/*.json
var ruleFiles embed.FS

// agents returns the known agents, by name. They are loaded at the first use, as most runs of longterm need none.
var agents = sync.OnceValue(mustLoad)

func mustLoad() []*Agent {
	files, err := ruleFiles.ReadDir("rules")
	if err != nil {
		panic(err)
	}
	var all []*Agent
	for _, f := range files {
		b, err := ruleFiles.ReadFile("rules/" + f.Name())
		if err != nil {
			panic(err)
		}
		a, err := load(b)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", f.Name(), err))
		}
		all = append(all, a)
	}
	return all
}

// load reads a file of rules.
func load(b []byte) (*Agent, error) {
	var a Agent
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil {
		return nil, err
	}
	if a.Name == "" || a.Version <= 0 || len(a.Programs) == 0 {
		return nil, errors.New("an agent needs a name, a version and its programs")
	}
	for i := range a.Rules {
		r := &a.Rules[i]
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		if r.Title == "" && len(r.Rows) == 0 {
			return nil, fmt.Errorf("rule %d: it looks at nothing", i+1)
		}
	}
	for name, r := range a.Hooks {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("hook %s: %w", name, err)
		}
	}
	return &a, nil
}

// check returns an error in a rule, except for its regular expressions.
func (r *Rule) check() error {
	if !slices.Contains([]State{Working, NeedsInput, NeedsApproval, rest, Unknown}, r.State) {
		return fmt.Errorf("unknown state %q", r.State)
	}
	if r.Reason == "" {
		return errors.New("it gives no reason")
	}
	return nil
}

// compile compiles the rules for screens. That is delayed until a screen is read: most programs that are checked are no
// agents.
func (a *Agent) compile() error {
	for i := range a.Rules {
		if err := a.Rules[i].compile(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *Rule) compile() (err error) {
	if r.Title != "" {
		if r.title, err = regexp.Compile(r.Title); err != nil {
			return err
		}
	}
	if r.rows, err = compileAll(r.Rows); err != nil {
		return err
	}
	r.none, err = compileAll(r.None)
	return err
}

func compileAll(patterns []string) (all []*regexp.Regexp, err error) {
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, err
		}
		all = append(all, re)
	}
	return all, nil
}

// ByName returns the agent with a name, or nil.
func ByName(name string) *Agent {
	for _, a := range agents() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Names returns the names of the known agents, in order.
func Names() (names []string) {
	for _, a := range agents() {
		names = append(names, a.Name)
	}
	return names
}

// interpreters run agents that are no executables themselves.
var interpreters = []string{"node", "bun", "deno", "python", "python3", "uv", "npx", "npm", "bunx", "pnpm", "sh", "bash", "dash"}

// Identify returns the agent whose process has an argument vector, or nil. It finds interactive agents only: those with
// a task on their command line print and end.
func Identify(argv []string) *Agent {
	if len(argv) == 0 {
		return nil
	}
	name := programName(argv[0])
	for _, a := range agents() {
		if slices.Contains(a.Programs, name) && !a.Resume.printsOnly(argv[1:]) {
			return a
		}
	}
	if !slices.ContainsFunc(interpreters, func(i string) bool {
		return name == i || strings.HasPrefix(name, i+"3.") || strings.HasPrefix(name, i+".")
	}) {
		return nil
	}
	for i, arg := range argv[1:] {
		if strings.HasPrefix(arg, "-") || arg == "exec" || arg == "run" || arg == "tool" {
			continue
		}
		for _, a := range agents() {
			if a.isScript(arg) && !a.Resume.printsOnly(argv[i+2:]) {
				return a
			}
		}
		return nil
	}
	return nil
}

// programName returns a program's name, without a login shell's dash or a Windows suffix.
func programName(arg0 string) string {
	name := path.Base(strings.TrimPrefix(strings.ReplaceAll(arg0, `\`, "/"), "-"))
	return strings.TrimSuffix(name, ".exe")
}

// isScript reports whether a path, or a package's name, is the agent's script.
func (a *Agent) isScript(arg string) bool {
	arg = strings.ReplaceAll(arg, `\`, "/")
	if slices.Contains(a.Programs, path.Base(arg)) {
		return true
	}
	return slices.ContainsFunc(a.Scripts, func(s string) bool {
		i := strings.Index(arg, s)
		return i >= 0 && (i == 0 || arg[i-1] == '/') && (i+len(s) == len(arg) || arg[i+len(s)] == '/' || arg[i+len(s)] == '@')
	})
}

// Screen is what a terminal shows: its rows as text, from the top.
type Screen struct {
	Title string
	Rows  []string
}

// read returns the rule that matches a screen, and the matching row, or nil.
func (a *Agent) read(s Screen) (r *Rule, row string) {
	a.once.Do(func() {
		if err := a.compile(); err != nil {
			panic(fmt.Sprintf("%s: %v", a.Name, err)) // a file in this package is wrong
		}
	})
	end := len(s.Rows)
	for end > 0 && strings.TrimSpace(s.Rows[end-1]) == "" {
		end--
	}
	for i := range a.Rules {
		r := &a.Rules[i]
		last := r.Last
		if last == 0 {
			last = lastRows
		}
		if row, ok := r.fits(s.Title, s.Rows[max(0, end-last):end]); ok {
			return r, row
		}
	}
	return nil, ""
}

func (r *Rule) fits(title string, rows []string) (seen string, ok bool) {
	if r.title != nil {
		if !r.title.MatchString(title) {
			return "", false
		}
		seen = title
	}
	for _, re := range r.rows {
		i := slices.IndexFunc(rows, re.MatchString)
		if i < 0 {
			return "", false
		}
		seen = rows[i]
	}
	for _, re := range r.none {
		if slices.ContainsFunc(rows, re.MatchString) {
			return "", false
		}
	}
	return strings.TrimSpace(seen), true
}

package confine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/sys"
)

// Spec describes the restrictions of a process before its program starts. The zero value restricts nothing.
type Spec struct {
	Path string `json:"path"` // the program's file; its argv is the process's own

	// File is the sys.FileID that Path must have. Empty: any.
	File string `json:"file,omitempty"`
	// Link is a symbolic link to ComparedFile that carries the program's name. Executing it runs the very file that was
	// compared, even if Path has been replaced since. Empty: Path is executed.
	Link string `json:"link,omitempty"`
	// Executions sets whether later executions are checked. Empty: not checked.
	Executions Executions `json:"executions,omitempty"`
	// Reach also reports calls that affect other processes: signals, limits, access to their memory. For keepers that
	// support it.
	Reach bool `json:"reach,omitempty"`
	// Calls are system calls that are rejected, always or with some arguments.
	Calls []Call `json:"calls,omitempty"`
	// Sandbox isolates the program. nil: not isolated.
	Sandbox *Sandbox `json:"sandbox,omitempty"`
	// Observe records what the program does. It excludes execution checks: only one listener is possible.
	Observe *Observe `json:"observe,omitempty"`
}

// comparedFD is the descriptor of the program's file after its comparison.
const comparedFD = 100

// ComparedFile is the path of comparedFD. A link to it has its own name, which the kernel uses as the process name (comm);
// the descriptor's name would be a number.
var ComparedFile = sys.DescriptorPath(comparedFD)

// Executions is how strictly execution checks are required.
type Executions string

// ExecutionsWanted starts the program also without checks; ExecutionsRequired does not.
const (
	ExecutionsWanted   Executions = "wanted"
	ExecutionsRequired Executions = "required"
)

// uncheckedPrefix starts the error of a process that must not start without execution checks.
const uncheckedPrefix = "executions cannot be judged"

// IsUnchecked reports whether a program was not started for lack of execution checks.
func IsUnchecked(message string) bool { return strings.Contains(message, uncheckedPrefix) }

// Call is a system call that is rejected.
type Call struct {
	Name  string `json:"name"` // as in the manual: "io_uring_setup"; a call that the machine lacks is ignored
	Args  []Arg  `json:"args,omitempty"`
	Errno int    `json:"errno,omitempty"` // 0: EPERM
}

// Arg is a condition on a call's argument: masked by Mask it equals Value, or, with Not, differs.
type Arg struct {
	Index int    `json:"index"` // 0 to 5
	Mask  uint64 `json:"mask"`
	Value uint64 `json:"value"`
	Not   bool   `json:"not,omitempty"`
}

// Report describes the restrictions in force. The daemon gets it as Spawned.Report.
type Report struct {
	Executions bool   `json:"executions,omitempty"` // executions are checked
	Why        string `json:"why,omitempty"`        // why executions are not checked although wanted
	// Levels are the other restrictions in force, in the order of their application.
	Levels []string `json:"levels,omitempty"`
}

// Interface between Command and the started process.
const (
	specVariable = "LONGTERM_CONFINE"
	arg0         = "longterm"
	arg1         = "confined"
	// maxSpec bounds the variable to the limit of execve (MAX_ARG_STRLEN, 32 pages).
	maxSpec = 128<<10 - len(specVariable) - 2
)

// Command returns the argv and environment for this executable, to start a process that applies the spec and then
// executes s.Path with argv and env.
func (s Spec) Command(argv, env []string) (newArgv, newEnv []string, err error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	if len(b) > maxSpec {
		return nil, nil, fmt.Errorf("a sandbox of %d bytes; at most %d can be passed: name fewer paths", len(b), maxSpec)
	}
	env = slices.DeleteFunc(slices.Clone(env), isSpec)
	return append([]string{arg0, arg1}, argv...), append(env, specVariable+"="+string(b)), nil
}

// isSpec reports whether an environment entry is a spec.
func isSpec(kv string) bool { return strings.HasPrefix(kv, specVariable+"=") }

// ownSpec returns the spec of this process; ok is false if it was started without one.
func ownSpec(args, env []string) (s Spec, argv []string, ok bool, err error) {
	i := slices.IndexFunc(env, isSpec)
	if i < 0 || len(args) < 3 || args[0] != arg0 || args[1] != arg1 {
		return s, nil, false, nil
	}
	if err := json.Unmarshal([]byte(env[i][len(specVariable)+1:]), &s); err != nil {
		return s, nil, true, fmt.Errorf("%s: %w", specVariable, err)
	}
	if s.Path == "" {
		return s, nil, true, fmt.Errorf("%s names no program", specVariable)
	}
	return s, args[2:], true, nil
}

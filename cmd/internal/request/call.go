//go:build unix

// Package request converts flags and arguments into API requests: sessions to start (StartFlags, with limits), lines
// and commands to run (CallFlags), rules to attach (RuleFlags, RespondFlags), conditions to wait for (Condition). It
// rejects invalid combinations as usage errors before anything is sent, and sends nothing itself.
//
// Times are durations on the command line and milliseconds in requests. A flag that is not given leaves the choice to
// the daemon and its configuration.
package request

import (
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/flagvalues"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
)

// CallFlags are the flags of verbs that run something and wait for its end.
type CallFlags struct {
	Timeout, Idle, Yield time.Duration
	onTimeout, OnInput   string
	Background, parse    bool
	digest               bool
	id                   string
	Budget               output.BudgetFlags
	Format               string
}

func (c *CallFlags) Register(cmd *cobra.Command, onTimeout string) {
	f := cmd.Flags()
	f.DurationVar(&c.Timeout, "timeout", 0, "time limit; 0: no limit (default: no limit; for agents exec.timeout, 1m, in the background 24h)")
	f.DurationVar(&c.Idle, "idle-timeout", 0, "time limit without output; 0: no limit (default: no limit; for agents exec.idle_timeout, 5m, in the background none)")
	f.DurationVar(&c.Yield, "yield", 0, "time after which to return the output so far, while the command continues in the background")
	f.BoolVarP(&c.Background, "background", "b", false, "return at once and print the job's id, for longterm jobs")
	f.StringVar(&c.onTimeout, "on-timeout", onTimeout, "`ACTION` after a timeout: kill (the command and all its descendants) or background")
	f.StringVar(&c.OnInput, "on-input", "wait", "`ACTION` when the command needs input: wait or return")
	f.StringVar(&c.id, "id", "", "request `ID`, a UUID of the caller's choice: a repeated call runs nothing and prints the same result; a different call is rejected")
	f.StringVar(&c.Format, "format", "", "`FORMAT` text: the whole result as labelled text, for models (default: the output)")
	f.BoolVar(&c.parse, "parse", false, "with --json: parsed output, such as problems, tests, listings")
	f.BoolVar(&c.digest, "digest", false, "with --json or --format: digest of output above --max-output: first failure, errors, warnings and the end")
	f.IntVar(&c.Budget.Bytes, "max-output", 0, "maximum `BYTES` of output: head and tail, between them the command that prints the rest (default: all; for agents with --json, and with --format and --digest, exec.max_output, 16384)")
	f.IntVar(&c.Budget.Line, "max-line", 0, "maximum `BYTES` of a line, head and tail (default: all)")
}

// maxID limits the caller's id of a call, in bytes (api.Call).
const maxID = 64

// CallID returns the caller's id of the call, or "".
func (c *CallFlags) CallID() string { return c.id }

// Call returns the call options of a request. The daemon chooses values that are not given: only it knows whether the
// caller is an agent, and only agents have limits by default. conf is the daemon's configuration, for messages.
func (c *CallFlags) Call(cmd *cobra.Command, conf *config.Exec, asJSON bool) (api.Call, error) {
	c.Timeout, c.Idle = FlagOr(cmd, "timeout", c.Timeout, conf.Timeout), FlagOr(cmd, "idle-timeout", c.Idle, conf.IdleTimeout)
	r := api.Call{
		Job: c.id, YieldMS: c.Yield.Milliseconds(), Background: c.Background, OnInput: c.OnInput,
		Digest: c.digest, Parse: c.parse, MaxOutput: c.Budget.Bytes, MaxLine: c.Budget.Line,
	}
	if strings.ContainsFunc(c.id, func(r rune) bool {
		return r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) || len(c.id) > maxID {
		return r, exit.Usagef("--id %q: invalid; use at most %d letters, digits and -, such as a UUID", c.id, maxID)
	}
	if c.Timeout < 0 || c.Idle < 0 || c.Yield < 0 {
		return r, exit.Usagef("--timeout, --idle-timeout and --yield must not be negative")
	}
	if err := c.Budget.Check(); err != nil {
		return r, err
	}
	if c.parse && !asJSON {
		return r, exit.Usagef("--parse requires --json")
	}
	if c.digest && !asJSON && c.Format == "" {
		return r, exit.Usagef("--digest requires --json or --format text")
	}
	if err := flagvalues.OneOf("--format", c.Format, "", "text"); err != nil {
		return r, err
	}
	if c.Format != "" && asJSON {
		return r, exit.Usagef("--json and --format exclude each other")
	}
	if err := flagvalues.OneOf("--on-timeout", c.onTimeout, "kill", "background"); err != nil {
		return r, err
	}
	if err := flagvalues.OneOf("--on-input", c.OnInput, "wait", "return"); err != nil {
		return r, err
	}
	if c.Format != "" && r.MaxOutput == 0 { // a format is for a model
		r.MaxOutput = int(conf.MaxOutput)
	}
	if cmd.Flags().Changed("on-timeout") { // otherwise the daemon decides: a foreground line ends with its caller
		r.OnTimeout = c.onTimeout
	}
	if cmd.Flags().Changed("timeout") {
		r.TimeoutMS = WholeMS(c.Timeout)
	}
	if cmd.Flags().Changed("idle-timeout") {
		r.IdleTimeoutMS = WholeMS(c.Idle)
	}
	return r, nil
}

// WholeMS returns d in milliseconds, at least 1 if d is positive: 0 means no limit in requests.
func WholeMS(d time.Duration) *int64 {
	ms := d.Milliseconds()
	if d > 0 {
		ms = max(1, ms)
	}
	return &ms
}

//go:build unix

// Package request turns flags and arguments into the API's requests: sessions to start (StartFlags, with limits),
// lines and commands to run (CallFlags), rules to attach (RuleFlags, RespondFlags), conditions to wait for
// (Condition). What makes no sense is refused here, as an error of usage, before anything is sent. It asks no
// daemon.
//
// Times are durations on the command line and milliseconds in requests; a flag that was not given leaves the
// choice to the daemon and its configuration.
package request

import (
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/values"
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
	f.DurationVar(&c.Timeout, "timeout", 0, "time limit; 0: no limit (default: no limit; for agents exec.timeout of the configuration, 1m, in the background 24h)")
	f.DurationVar(&c.Idle, "idle-timeout", 0, "time limit without output; 0: no limit (default: no limit; for agents exec.idle_timeout of the configuration, 5m, in the background none)")
	f.DurationVar(&c.Yield, "yield", 0, "return after this time with the output so far; the command continues in the background")
	f.BoolVarP(&c.Background, "background", "b", false, "return at once and print the job's id, for longterm jobs")
	f.StringVar(&c.onTimeout, "on-timeout", onTimeout, "what to do when a timeout expires: kill (the command and all its descendants) or background")
	f.StringVar(&c.OnInput, "on-input", "wait", "what to do when the command waits for input: wait or return")
	f.StringVar(&c.id, "id", "", "id of this call, made up by the caller (a UUID): called again with it, nothing is run twice and the same result is printed; another call with it is refused")
	f.StringVar(&c.Format, "format", "", "text: the whole result as labelled text, for a model to read (default: the output)")
	f.BoolVar(&c.parse, "parse", false, "with --json, parse the output by command: problems, tests, listings")
	f.BoolVar(&c.digest, "digest", false, "with --json or --format: of more output than --max-output, keep the first failure, errors, warnings and the end")
	f.IntVar(&c.Budget.Bytes, "max-output", 0, "bytes of output to print: head and tail, and between them the command that prints the rest (default: all; for agents with --json, and with --format and --digest, exec.max_output of the configuration, 16384)")
	f.IntVar(&c.Budget.Line, "max-line", 0, "bytes of one line to print, head and tail (default: all)")
}

// maxID bounds the id of a call, in bytes (api.Call).
const maxID = 64

// CallID is the id that the caller gave the call; empty: none.
func (c *CallFlags) CallID() string { return c.id }

// Call returns the request's part. The daemon chooses what was not given: it knows whether the caller is an agent, and
// only agents have limits by default. conf is the configuration as the daemon reads it, for messages.
func (c *CallFlags) Call(cmd *cobra.Command, conf *config.Exec, asJSON bool) (api.Call, error) {
	c.Timeout, c.Idle = GivenOr(cmd, "timeout", c.Timeout, conf.Timeout), GivenOr(cmd, "idle-timeout", c.Idle, conf.IdleTimeout)
	r := api.Call{
		Job: c.id, YieldMS: c.Yield.Milliseconds(), Background: c.Background, OnInput: c.OnInput,
		Digest: c.digest, Parse: c.parse, MaxOutput: c.Budget.Bytes, MaxLine: c.Budget.Line,
	}
	if strings.ContainsFunc(c.id, func(r rune) bool {
		return r != '-' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) || len(c.id) > maxID {
		return r, exit.Usagef("--id %q: give at most %d letters, digits and -, as in a UUID", c.id, maxID)
	}
	if c.Timeout < 0 || c.Idle < 0 || c.Yield < 0 {
		return r, exit.Usagef("--timeout, --idle-timeout and --yield must not be negative")
	}
	if err := c.Budget.Check(); err != nil {
		return r, err
	}
	if c.parse && !asJSON {
		return r, exit.Usagef("--parse is for --json; give that as well")
	}
	if c.digest && !asJSON && c.Format == "" {
		return r, exit.Usagef("--digest is for a result as a whole; give --json or --format text as well")
	}
	if err := values.OneOf("--format", c.Format, "", "text"); err != nil {
		return r, err
	}
	if c.Format != "" && asJSON {
		return r, exit.Usagef("both --json and --format are given; give one of them")
	}
	if err := values.OneOf("--on-timeout", c.onTimeout, "kill", "background"); err != nil {
		return r, err
	}
	if err := values.OneOf("--on-input", c.OnInput, "wait", "return"); err != nil {
		return r, err
	}
	if c.Format != "" && r.MaxOutput == 0 { // a format is for a model
		r.MaxOutput = int(conf.MaxOutput)
	}
	if cmd.Flags().Changed("on-timeout") { // else a caller who goes away takes a line along
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

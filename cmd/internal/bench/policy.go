package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/policy"
)

// policyExample is one line of a file of examples: a command line, the policy to check it under, and the acceptable
// verdicts.
type policyExample struct {
	Cmd    string   `json:"cmd"`
	Policy string   `json:"policy"` // a preset, "rule:deny WORDS" or "rule:allow WORDS"
	Accept []string `json:"accept"` // acceptable verdicts
	Tier   string   `json:"tier"`
	Shell  string   `json:"shell"`
	line   int      // line number in its file
	name   string   // name of an agent line, in place of the line number
}

// policyReport is the result of `bench policy`. Times are those of one check.
type policyReport struct {
	Examples int           `json:"examples"`
	Right    int           `json:"right"`
	Tiers    []policyTier  `json:"tiers"`
	Wrong    []policyWrong `json:"wrong"`
	P50      float64       `json:"p50_ms"`
	P99      float64       `json:"p99_ms"`
	Max      float64       `json:"max_ms"`

	engines map[string]*policy.Engine // by the name of their policy
}

// policyTier counts the examples of a tier of a file.
type policyTier struct {
	File  string `json:"file"`
	Tier  string `json:"tier"`
	Right int    `json:"right"`
	Total int    `json:"total"`
	// FalseAskings counts lines that needed approval although they should be allowed.
	FalseAskings int `json:"false_askings"`
}

// policyWrong is a wrong verdict.
type policyWrong struct {
	File   string   `json:"file"`
	Line   int      `json:"line"`           // line number
	Name   string   `json:"name,omitempty"` // name of an agent line
	Tier   string   `json:"tier"`
	Policy string   `json:"policy"`
	Cmd    string   `json:"cmd"`
	Shell  string   `json:"shell,omitempty"`
	Accept []string `json:"accept"`
	Got    string   `json:"verdict"`
	Rule   string   `json:"rule,omitempty"`
	Why    string   `json:"why,omitempty"`
}

func policyCommand(e *Program) *cobra.Command {
	c := &cobra.Command{
		Use: "policy [DIR|FILE]", Short: "Score the policy engine on examples with known verdicts", Args: cobra.MaximumNArgs(1),
		Long: `Evaluate each example of the .jsonl files in a directory, or of one file, and count the right answers by tier. An
example is an object on one line: {"cmd": "rm -rf /", "policy": "hard", "accept": ["deny"], "tier": "core"},
with "shell" unless it is bash. The policy is a preset, or "rule:deny WORDS" or "rule:allow WORDS" for a single
rule. Without an argument the examples are lines as agents write them, each in the shells in which it is valid
(cmd/internal/bench/corpus/agent.toml). Wrong answers are listed. No session is started.`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := benchPolicy(strings.Join(args, ""))
			if err != nil {
				return err
			}
			return e.Print(r, func(w io.Writer) { writePolicy(w, r) })
		},
	}
	return e.JSONFlag(c)
}

// benchPolicy scores the policy engine on the examples of a directory or file, or on the lines of agents if at is empty.
func benchPolicy(at string) (*policyReport, error) {
	r := &policyReport{Tiers: []policyTier{}, Wrong: []policyWrong{}, engines: map[string]*policy.Engine{}}
	times, err := r.judgeAll(at)
	if err != nil {
		return nil, err
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("%s has no examples", at)
	}
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	r.P50, r.P99, r.Max = ms(times[len(times)/2]), ms(times[len(times)*99/100]), ms(times[len(times)-1])
	return r, nil
}

// judgeAll judges the examples of a directory or file, or the lines of agents if at is empty. It returns how long each took.
func (r *policyReport) judgeAll(at string) (times []time.Duration, err error) {
	if at == "" {
		c, err := parseAgentLines(agentCorpus)
		if err != nil {
			return nil, err
		}
		return r.judge("agent.toml", c.examples())
	}
	files := []string{at}
	switch info, err := os.Stat(at); {
	case err != nil:
		return nil, err
	case info.IsDir():
		if files, err = filepath.Glob(filepath.Join(at, "*.jsonl")); err != nil || len(files) == 0 {
			return nil, fmt.Errorf("%s has no .jsonl files: name a directory of examples", at)
		}
	}
	for _, file := range files {
		list, err := readExamples(file)
		if err != nil {
			return nil, err
		}
		took, err := r.judge(file, list)
		if err != nil {
			return nil, err
		}
		times = append(times, took...)
	}
	return times, nil
}

// readExamples reads a file of examples.
func readExamples(file string) (list []policyExample, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for n := 1; s.Scan(); n++ {
		if len(strings.TrimSpace(s.Text())) == 0 {
			continue
		}
		x := policyExample{line: n}
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		list = append(list, x)
	}
	return list, s.Err()
}

// judge judges the examples of one file and returns how long each took.
func (r *policyReport) judge(file string, list []policyExample) (times []time.Duration, err error) {
	tiers := map[string]*policyTier{}
	for _, x := range list {
		e, ok := r.engines[x.Policy]
		if !ok {
			if e, err = policyEngine(x.Policy); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, x.line, err)
			}
			r.engines[x.Policy] = e
		}
		start := time.Now()
		j := e.Judge(policy.Line{Text: x.Cmd, Shell: x.Shell, Cwd: "/home/me/project", Home: "/home/me"})
		times = append(times, time.Since(start))
		t := tiers[x.Tier]
		if t == nil {
			t = &policyTier{File: filepath.Base(file), Tier: x.Tier}
			tiers[x.Tier] = t
		}
		t.Total++
		r.Examples++
		if slices.Contains(x.Accept, j.Verdict.String()) {
			t.Right++
			r.Right++
			continue
		}
		if j.Verdict == policy.Ask && slices.Contains(x.Accept, policy.Allow.String()) {
			t.FalseAskings++
		}
		r.Wrong = append(r.Wrong, policyWrong{File: filepath.Base(file), Line: x.line, Name: x.name, Tier: x.Tier, Policy: x.Policy, Cmd: x.Cmd,
			Shell: x.Shell, Accept: x.Accept, Got: j.Verdict.String(), Rule: j.Rule, Why: j.Why})
	}
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		r.Tiers = append(r.Tiers, *tiers[tier])
	}
	return times, nil
}

// policyEngine returns the engine for the name of a policy.
func policyEngine(name string) (*policy.Engine, error) {
	rule, ok := strings.CutPrefix(name, "rule:")
	if !ok {
		return policy.New(policy.Options{Preset: policy.Preset(name)})
	}
	switch verb, words, _ := strings.Cut(rule, " "); verb {
	case "deny":
		return policy.New(policy.Options{Preset: policy.Off, Deny: []string{words}})
	case "allow":
		return policy.New(policy.Options{Preset: policy.Listed, Allow: []string{words}})
	}
	return nil, fmt.Errorf("no policy %q: write a preset, rule:deny WORDS or rule:allow WORDS", name)
}

func writePolicy(w io.Writer, r *policyReport) {
	for _, t := range r.Tiers {
		fmt.Fprintf(w, "%-28s %-8s %5d of %5d right", t.File, t.Tier, t.Right, t.Total)
		if t.FalseAskings > 0 {
			fmt.Fprintf(w, ", %d false askings (%.1f %%)", t.FalseAskings, 100*float64(t.FalseAskings)/float64(t.Total))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%-37s %5d of %5d right; an answer took %.3f ms (median), %.3f ms (99th percentile), %.3f ms (most)\n",
		"all", r.Right, r.Examples, r.P50, r.P99, r.Max)
	for _, x := range r.Wrong {
		where := x.Name + " in " + x.Shell
		if x.Name == "" {
			where = strconv.Itoa(x.Line)
		}
		fmt.Fprintf(w, "%s:%s: %s: %s: %s, not %s (%s)\n", x.File, where, x.Policy, output.Printable(x.Cmd), x.Got,
			strings.Join(x.Accept, " or "), output.Printable(x.Why))
	}
}

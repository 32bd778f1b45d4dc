//go:build unix

package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/vterm/input"
)

// detection runs situations through the API, like an ordinary client.
type detection struct {
	bench       *sessionBench
	client      *client.Client
	ssh         *benchSSH     // nil if it did not start
	startupTime time.Duration // start and end time of a trivial program here (startTime)

	mu          sync.Mutex // guards the fields below: several situations run at a time
	report      *detectReport
	tally       map[string]*ratio // results by kind of check
	overheads   []float64         // overhead of each run, ms
	inputDelays []float64         // delay until a request for input was detected, ms
}

// detectRun is a run of one situation in one shell.
type detectRun struct {
	*detection
	*situation
	sh      string
	ses     *client.Session
	wrong   bool // a check failed
	alarmed bool // input was reported although the situation needs none
}

// ratio counts successes among all checks.
type ratio struct{ right, all int }

func (r *ratio) percent() float64 {
	if r.all == 0 {
		return 100
	}
	return 100 * float64(r.right) / float64(r.all)
}

func newDetection(b *sessionBench) (*detection, error) {
	programs := filepath.Join(b.dir, "programs")
	if err := writePrograms(programs); err != nil {
		return nil, err
	}
	b.env = slices.DeleteFunc(b.env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name == "PATH" || name == "HOME" || name == "LC_ALL" || name == "LONGTERM_BENCH_DIR"
	})
	b.env = append(b.env, "PATH="+programs+":"+os.Getenv("PATH"), "LONGTERM_BENCH_DIR="+b.dir, "HOME="+b.dir, "LC_ALL=C.UTF-8",
		"SQLITE_HISTORY="+filepath.Join(b.dir, "sqlite_history")) // sqlite asks the system for the user, not HOME
	if _, err := b.lt(context.Background(), "daemon", "start"); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.dir, "lt")
	dirs := paths.Dirs{Run: filepath.Join(dir, "run"), State: filepath.Join(dir, "state")}
	d := &detection{bench: b, report: &detectReport{Failures: []string{}, LeftOut: []string{}}, tally: map[string]*ratio{}}
	for _, k := range []string{"all", "exit", "moment", "output", "input", "alarm"} {
		d.tally[k] = &ratio{}
	}
	d.client = client.New(client.Options{Dirs: dirs, Build: b.program.Version})
	d.ssh = startBenchSSH(b, "")
	return d, nil
}

// close ends what the situations may have left.
func (d *detection) close() {
	d.client.Close()
	d.ssh.close()
	socks, _ := filepath.Glob(filepath.Join(d.bench.dir, "tmux.*"))
	for _, sock := range socks {
		_ = exec.Command("tmux", "-S", sock, "kill-server").Run()
	}
}

// has reports whether a program that a situation needs is installed.
func (d *detection) has(program string) bool {
	switch program {
	case "root":
		return os.Getuid() == 0
	case "sshd":
		return d.ssh != nil
	}
	_, err := exec.LookPath(program)
	return err == nil
}

func (d *detection) run(ctx context.Context, list []situation, o *detectOptions) (*detectReport, error) {
	r := d.report
	var runs []*detectRun
	for _, sh := range detectShells {
		if !d.has(sh) || len(o.shells) > 0 && !slices.Contains(o.shells, sh) {
			continue
		}
		r.Shells = append(r.Shells, sh)
		for i := range list {
			if slices.Contains(list[i].shells, sh) && d.hasAll(list[i].needs) {
				runs = append(runs, &detectRun{detection: d, situation: &list[i], sh: sh})
			}
		}
	}
	d.startupTime = d.startTime(ctx, o.parallel)
	err := d.runAll(ctx, runs, max(1, o.parallel))
	r.Runs, r.Situations = len(runs), len(list)
	r.Right = d.tally["all"].percent()
	r.ExitRight, r.MomentRight, r.OutputRight = d.tally["exit"].percent(), d.tally["moment"].percent(), d.tally["output"].percent()
	r.InputRight, r.FalseAlarms = d.tally["input"].percent(), 100-d.tally["alarm"].percent()
	r.OverheadMS, r.InputMS = median(d.overheads), median(d.inputDelays)
	if len(d.overheads) > 0 {
		r.OverheadP95 = percentile(d.overheads, 0.95)
	}
	if len(d.inputDelays) > 0 {
		r.InputP95 = percentile(d.inputDelays, 0.95)
	}
	slices.Sort(r.Failures)
	r.sortTable(list)
	return r, err
}

func (d *detection) hasAll(programs []string) bool {
	for _, p := range programs {
		if !d.has(p) {
			if !slices.Contains(d.report.LeftOut, p) {
				d.report.LeftOut = append(d.report.LeftOut, p)
			}
			return false
		}
	}
	return true
}

// runAll runs several situations at a time. It stops at the first error that is not a failed check.
func (d *detection) runAll(ctx context.Context, runs []*detectRun, parallel int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *detectRun)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for r := range next {
				if err := r.run(ctx); err != nil && ctx.Err() == nil {
					cancel(fmt.Errorf("%s in %s: %w", r.name, r.sh, err))
				}
			}
		})
	}
	for _, r := range runs {
		select {
		case next <- r:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// momentSlack is how late an end may be reported on a busy machine and still count as on time. The programs' start time
// on this machine is added. Overhead figures exclude it.
const momentSlack = 400 * time.Millisecond

// startTime measures what a program of the corpus needs to start and end, with leeway for others that
// start at the same time.
func (d *detection) startTime(ctx context.Context, parallel int) time.Duration {
	var most time.Duration
	for range 3 {
		begin := time.Now()
		_ = d.bench.command(ctx, filepath.Join(d.bench.dir, "programs", "situation"), "cpu", "0").Run()
		most = max(most, time.Since(begin))
	}
	return most * time.Duration(1+parallel)
}

// run runs the line in a fresh shell and counts what was right.
func (r *detectRun) run(ctx context.Context) error {
	argv := []string{r.sh}
	if r.sh == "bash" {
		argv = []string{"bash", "--norc"}
	}
	info, err := r.client.NewSession(ctx, api.NewSession{Name: r.sh + "-" + r.name, Argv: argv, Cwd: r.bench.dir, Env: r.bench.env, Cols: r.cols, Rows: r.rows})
	if err != nil {
		return err
	}
	r.ses = r.client.Session(info.ID)
	defer func() { _ = r.ses.Remove(context.WithoutCancel(ctx), true) }()
	if err := r.situate(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &r.report.Table
	i := slices.IndexFunc(*t, func(c detectCell) bool { return c.Category == r.category && c.Shell == r.sh })
	if i < 0 {
		i = len(*t)
		*t = append(*t, detectCell{Category: r.category, Shell: r.sh})
	}
	c := &(*t)[i]
	c.Runs++
	if r.alarmed {
		c.Alarms++
	}
	r.tally["all"].all++
	if !r.wrong {
		c.Right++
		r.tally["all"].right++
	}
	return nil
}

// situate starts the shell and prepares the situation.
func (r *detectRun) situate(ctx context.Context) error {
	if w, err := r.ses.Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "prompt"}}, TimeoutMS: 20000}); err != nil {
		return err
	} else if w.Outcome != "fired" {
		r.fail("no prompt (%s)", w.Outcome)
		return nil
	}
	begin := time.Now()
	limit := (20 * time.Second).Milliseconds()
	res, err := r.ses.Exec(ctx, api.Exec{Line: r.line, Call: api.Call{TimeoutMS: &limit, OnInput: "return", OnTimeout: "kill", MaxOutput: 1 << 20}})
	took := time.Since(begin)
	if err != nil {
		r.fail("exec: %v", err)
		return nil
	}
	if r.input != "" {
		return r.judgeInput(ctx, &res, begin, took)
	}
	r.alarmed = res.State == "needs_input" && res.Needs != "prompt" // which is no question, though it may be no prompt
	r.count("alarm", !r.alarmed)
	if r.alarmed {
		r.fail("false alarm: %s", res.Needs)
	}
	r.judge(&res, res.Output)
	late := took - r.takes
	right := late > -30*time.Millisecond && (late < momentSlack+r.startupTime || r.takes == 0)
	r.mu.Lock()
	r.overheads = append(r.overheads, float64(late.Microseconds())/1000)
	r.mu.Unlock()
	r.count("moment", right)
	if !right {
		r.fail("took %v, its own time is %v", took, r.takes)
	}
	return nil
}

// judge compares status and output.
func (r *detectRun) judge(res *api.Result, printed string) {
	right := r.exit == nil || res.ExitCode != nil && *res.ExitCode == *r.exit
	r.count("exit", right)
	if !right {
		got := "null"
		if res.ExitCode != nil {
			got = strconv.Itoa(*res.ExitCode)
		}
		r.fail("exit %s, should be %d (%s, %q)", got, *r.exit, res.State, output.Shorten(printed, 200))
	}
	if r.output != nil {
		right := r.output.MatchString(printed)
		r.count("output", right)
		if !right {
			r.fail("output %q", output.Shorten(printed, 200))
		}
	}
}

// judgeInput compares the request for input, answers it and judges the end.
func (r *detectRun) judgeInput(ctx context.Context, res *api.Result, begin time.Time, took time.Duration) error {
	right := res.State == "needs_input" && res.Needs == r.input
	r.count("input", right)
	if right {
		r.recordDelay(ctx, begin)
	} else {
		r.fail("input %q, should be %q (%s after %v, %q)", res.Needs, r.input, res.State, took, output.Shorten(res.Output, 200))
		if res.State != "needs_input" {
			return nil
		}
	}
	if ended, err := r.typeAnswer(ctx); err != nil || !ended {
		return err
	}
	c, err := r.ses.Command(ctx, 0)
	if err != nil {
		return err
	}
	o, err := r.ses.Output(ctx, c.Output.Start, 0)
	if err != nil {
		return err
	}
	if c.Output.End > 0 && o.Next > c.Output.End {
		o.Data = o.Data[:c.Output.End-o.From]
	}
	r.judge(&api.Result{ExitCode: c.ExitCode, State: c.State}, output.PlainText(o.Data))
	return nil
}

// recordDelay records the time from the program's prompt for input to its detection. The prompt's time is when its text
// was printed, or the situation's own time.
func (r *detectRun) recordDelay(ctx context.Context, begin time.Time) {
	s, err := r.ses.Info(ctx)
	if err != nil || s.Needs == nil {
		return
	}
	asked := begin.Add(r.takes)
	if s.LastOutput != nil && s.LastOutput.After(asked) {
		asked = *s.LastOutput
	}
	r.mu.Lock()
	r.inputDelays = append(r.inputDelays, max(0, float64(s.Needs.Since.Sub(asked).Microseconds())/1000))
	r.mu.Unlock()
}

// typeAnswer types the answer line by line, each at its prompt, and waits for the end.
func (r *detectRun) typeAnswer(ctx context.Context) (ended bool, err error) {
	keys, err := input.ParseKeys(r.answer)
	if err != nil {
		return false, err
	}
	var names []string
	for i, k := range keys {
		names = append(names, k.String())
		if i+1 < len(keys) && strings.Trim(k.String(), "<>") != "Enter" {
			continue
		}
		if _, err := r.ses.Type(ctx, api.Input{Keys: names}); err != nil {
			return false, err
		}
		names = nil
		conds := []api.Condition{{Kind: "prompt"}}
		if i+1 < len(keys) {
			conds = append(conds, api.Condition{Kind: "input"})
		}
		w, err := r.ses.Wait(ctx, api.Wait{Conds: conds, TimeoutMS: 10000})
		if err != nil {
			return false, err
		}
		if w.Outcome != "fired" {
			r.fail("nothing after the answer (%s)", w.Outcome)
			return false, nil
		}
	}
	return true, nil
}

// count counts one check of a kind.
func (r *detectRun) count(kind string, right bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[kind].all++
	if right {
		r.tally[kind].right++
	}
}

// fail records a failed check.
func (r *detectRun) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = true
	text := r.sh + " " + r.name + ": " + fmt.Sprintf(format, args...)
	r.report.Failures = append(r.report.Failures, strings.TrimSpace(text))
}

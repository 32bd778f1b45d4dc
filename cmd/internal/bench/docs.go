package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// docsBench holds the options of `bench docs`.
type docsBench struct {
	only []string
	// run runs a bench with its arguments and returns its output.
	run func(ctx context.Context, args []string) ([]byte, error)
	// conditions returns the date and the machine.
	conditions func() string
}

func docsCommand(e *Program) *cobra.Command {
	d := docsBench{run: runSelf, conditions: func() string { return machineOf(e.Version(), time.Now()) }}
	c := &cobra.Command{
		Use: "docs FILE", Short: "Rerun the benches of a page and update its figures", Args: cobra.ExactArgs(1),
		Long: "Run the benches of a Markdown page one after the other and replace their printed output. A bench is a ```console block\n" +
			"that starts with `$ longterm bench …`; all other text stays. The page is written after each bench; a failed bench keeps\n" +
			"its old output.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := d.page(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if err := e.Print(r, r.write); err != nil || len(r.Failed) == 0 {
				return err
			}
			return exit.With(api.ExitFailure, fmt.Errorf("%d of %d benches failed; their old figures stay", len(r.Failed), len(r.Failed)+len(r.Measured)))
		},
	}
	c.Flags().StringSliceVar(&d.only, "only", nil, "measure these benches only: sessions, emulator, …")
	return e.JSONFlag(c)
}

// docsReport lists the benches that `bench docs` ran, and its failures.
type docsReport struct {
	Page     string   `json:"page"`
	Measured []string `json:"measured"`
	Failed   []string `json:"failed"`
}

func (r *docsReport) write(w io.Writer) {
	for _, command := range r.Measured {
		fmt.Fprintf(w, "measured  %s\n", command)
	}
	for _, command := range r.Failed {
		fmt.Fprintf(w, "failed    %s\n", command)
	}
}

// page reruns the benches shown in a file and updates their output there. It prints each name as it starts.
func (d *docsBench) page(ctx context.Context, path string, progress io.Writer) (*docsReport, error) {
	page, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.Usage(err)
	}
	shown := shownBenches(page)
	if len(shown) == 0 {
		return nil, exit.Usagef("%s shows no bench: a block ```console whose first line is `$ longterm bench NAME`", path)
	}
	for _, name := range d.only {
		if !slices.ContainsFunc(shown, func(s shownBench) bool { return s.args[0] == name }) {
			return nil, exit.Usagef("%s shows no `longterm bench %s`", path, name)
		}
	}
	r := &docsReport{Page: path, Measured: []string{}, Failed: []string{}}
	for i := range shown {
		s := &shown[i]
		if len(d.only) > 0 && !slices.Contains(d.only, s.args[0]) {
			continue
		}
		where := d.conditions() // measured before the bench adds its own load
		fmt.Fprintln(progress, s.command)
		printed, err := d.run(ctx, s.args)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(progress, "%s: %v\n", s.command, err)
			r.Failed = append(r.Failed, s.command)
			continue
		}
		if err := writeShown(path, s, where, printed); err != nil {
			return nil, err
		}
		r.Measured = append(r.Measured, s.command)
	}
	return r, nil
}

// writeShown puts a bench's output into the current page, which may have been edited since.
func writeShown(path string, s *shownBench, where string, printed []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	now := shownBenches(page)
	i := slices.IndexFunc(now, func(n shownBench) bool { return n.command == s.command })
	if i < 0 {
		return fmt.Errorf("%s no longer shows `%s`; its figures were:\n%s", path, s.command, printed)
	}
	block := fmt.Sprintf("$ %s\n# %s\n%s", s.command, where, trimLines(printed))
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	return atomicfile.Write(path, atomicfile.Options{Mode: info.Mode().Perm()}, page[:now[i].from], []byte(block), page[now[i].to:])
}

// trimLines returns output without blanks at the ends of lines, in whole lines.
func trimLines(printed []byte) []byte {
	var b bytes.Buffer
	for line := range bytes.Lines(bytes.TrimRight(printed, " \t\r\n")) {
		b.Write(bytes.TrimRight(line, " \t\r\n"))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// shownBench is a bench whose command and output a page contains.
type shownBench struct {
	command  string   // for example: longterm bench sessions --runs 30
	args     []string // its arguments: sessions --runs 30
	from, to int      // byte range of the output in the page, between the code fences
}

// shownBenches returns the benches of a page in order.
func shownBenches(page []byte) []shownBench {
	block := regexp.MustCompile("(?ms)^```console\r?\n(\\$ (longterm bench [a-z][^\r\n]*?)[ \t]*\r?\n.*?)^```[ \t]*\r?$")
	var all []shownBench
	for _, m := range block.FindAllSubmatchIndex(page, -1) {
		command := string(page[m[4]:m[5]])
		all = append(all, shownBench{command: command, args: strings.Fields(command)[2:], from: m[2], to: m[3]})
	}
	return all
}

// runSelf runs a bench of this executable.
func runSelf(ctx context.Context, args []string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// machineOf returns the conditions that figures depend on.
func machineOf(version string, now time.Time) string {
	return fmt.Sprintf("%s, %s, %s/%s, %d processors, load %.1f when it began",
		now.Format(time.DateOnly), version, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), sys.ReadMachineLoad().Load)
}

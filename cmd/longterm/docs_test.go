//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/bench"
	"github.com/longterm-dev/longterm/cmd/internal/help"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
)

// update makes `go test ./cmd/longterm -run TestDocs -update` write the generated documentation. Without it the test
// reports outdated files.
var update = flag.Bool("update", false, "write the generated documentation")

const docs = "../../docs"

// check compares a generated file with the one in the repository, or writes it.
func check(t *testing.T, path string, want []byte) {
	t.Helper()
	path = filepath.Join(docs, path)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is out of date (%v); run `go test ./cmd/longterm -run TestDocs -update`", path, err)
	}
}

func TestDocsCLI(t *testing.T) {
	root := rootCommand(newApp(), nil)
	root.DisableAutoGenTag = true
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	dir := t.TempDir()
	for _, root := range []*cobra.Command{root, ltbench()} {
		nameValues(root)
		if err := doc.GenMarkdownTree(root, dir); err != nil {
			t.Fatal(err)
		}
	}
	checkTree(t, dir, "cli")
}

// namedValue is a flag's value whose type is a placeholder.
type namedValue struct {
	pflag.Value
	name string
}

func (v namedValue) Type() string { return v.name }

// nameValues gives the flags of c and its subcommands the placeholders of help, as in --rows NUMBER and --draft[=DIR].
func nameValues(c *cobra.Command) {
	name := func(f *pflag.Flag) {
		value := help.ValueName(f)
		if _, named := f.Value.(namedValue); named || value == "" {
			return
		}
		if slices.Contains([]string{"0", "0s", "[]"}, f.DefValue) {
			f.DefValue = "" // no default
		}
		if f.NoOptDefVal == "" {
			f.Value = namedValue{f.Value, value}
			return
		}
		f.Value, f.NoOptDefVal, f.Usage = namedValue{f.Value, ""}, value, strings.ReplaceAll(f.Usage, "`", "")
	}
	c.Flags().VisitAll(name)
	c.PersistentFlags().VisitAll(name)
	for _, sub := range c.Commands() {
		nameValues(sub)
	}
}

// ltbench returns the command line of the program that measures.
func ltbench() *cobra.Command {
	c := bench.Command(&output.Printer{})
	c.DisableAutoGenTag = true
	return c
}

const errorsIntro = `# Errors and exit statuses

    longterm exec work make; echo $?          # the command's own status, or 111 to 125
    longterm exec work --json make            # exit_code, signal, state and outcome

Every error has a code (the same in the API and on the command line), a message and a hint. Over HTTP they are the body
` + "`{\"code\", \"message\", \"hint\"}`" + `. On the command line they are a line on standard error, with --json the same object there.
Standard output has results only. The table is generated from session/api.

run and exec exit with the status of their command. If it was not run they exit with 111 to 123, which programs seldom use. 125 is
for failures of longterm itself, and for unknown statuses.

`

const errorsAfter = `
## Exit statuses in results

` + "`exit_code`, `signal` and `state`" + ` mean the same in run, exec, jobs and over HTTP:

| end | state | exit_code | signal | exit status of the command line |
|---|---|---|---|---|
| a program (run), by itself | exited | its code | | the code |
| a program (run), by a signal from the kernel | signalled | null | its name | 128 and its number |
| a line in a shell (exec) | exited | the shell's ` + "`$?`" + ` | | the code |
| either, ended by a timeout or on request | killed | as above | as above | 124 after a timeout, else as above |
| not ended yet | running, needs_input, waiting | null | | 124; 118 if it waits for input |
| a line whose shell ended | ended | null, or the code | | 125, or the code |
| a line in a program without statuses (python3, gdb, sqlite3), back at its prompt | exited | null, exit_unknown none | | 0, with a note |
| a line in a shell or program whose status longterm cannot see (ssh, a nested shell) | exited | null, exit_unknown not_reported | | 125 |
| unknown: the keeper died | lost | null | | 125 |

A shell reports only a code: 137 for a program ended by SIGKILL, and for ` + "`exit 137`" + ` too. ` + "`signal`" + ` is set only if the kernel
reported one, as for run's own program.

## Waits

| outcome | exit status of ` + "`wait`" + ` | meaning |
|---|---|---|
| fired | 0 | a condition holds (with ` + "`--all`" + `: all do) |
| timeout | 124 | it did not hold in time, but may later |
| ended | 4 | the session has ended and the condition can no longer hold; reported at once |
`

func TestDocsErrors(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(errorsIntro + "| code | HTTP | exit status | of run and exec | meaning | what to do |\n|---|---|---|---|---|---|\n")
	for r := range api.Codes {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s |\n", r.Code, r.HTTP, r.Exit, r.RefusedExit, r.Text, r.Hint)
	}
	b.WriteString(errorsAfter)
	check(t, "errors.md", b.Bytes())
}

const exitIntro = `# Exit statuses

    longterm exec work make; echo $?          # the command's own status, or 111 to 125
    longterm wait work --for exit             # prints the status of the session's program

run and exec exit with the status of their command, or with 128 and the number of the signal that ended it. If longterm did not run
it, they exit with 111 to 123, which programs seldom use. The other verbs exit with 0 after success. ` + "`longterm help errors`" + ` lists
the codes of errors in JSON and what to do.

## Verbs

| exit status | meaning |
|---|---|
| 0 | success |
`

// statuses are meanings that no error code has.
var statuses = map[int]string{1: "another failure; for search: nothing found", 2: "wrong usage", 125: "the status of the command is unknown"}

// TestDocsExitStatus writes the meanings of exit statuses, from the table of errors.
func TestDocsExitStatus(t *testing.T) {
	b := bytes.NewBufferString(exitIntro)
	table := func(status func(r api.CodeRow) int) {
		texts := map[int][]string{}
		for r := range api.Codes {
			if n := status(r); !slices.Contains(texts[n], r.Text) {
				texts[n] = append(texts[n], r.Text)
			}
		}
		for _, n := range slices.Sorted(maps.Keys(texts)) {
			if more := statuses[n]; more != "" {
				texts[n] = append(texts[n], more)
			}
			kind := ""
			if n == api.ExitConflict {
				kind = "conflict: "
			}
			fmt.Fprintf(b, "| %d | %s%s |\n", n, kind, strings.Join(texts[n], "; "))
		}
	}
	table(func(r api.CodeRow) int { return r.Exit })
	b.WriteString("\n## run and exec\n\n| exit status | meaning |\n|---|---|\n| 0 to 110 | the command's own; 0, with a note, also for a line of a REPL, which reports none |\n")
	table(func(r api.CodeRow) int { return r.RefusedExit })
	b.WriteString("| 128 + N | ended by signal N, such as 137 for SIGKILL |\n\n## See also\n\n[Errors as JSON, results and waits](errors.md), [command line](cli/longterm.md)\n")
	check(t, "exit-status.md", b.Bytes())
}

func TestDocsMan(t *testing.T) {
	root := rootCommand(newApp(), nil)
	root.DisableAutoGenTag = true
	dir := t.TempDir()
	date := time.Unix(0, 0).UTC() // the pages have no date
	for _, root := range []*cobra.Command{root, ltbench()} {
		if err := doc.GenManTree(root, &doc.GenManHeader{Title: "LONGTERM", Section: "1", Source: "longterm", Date: &date}, dir); err != nil {
			t.Fatal(err)
		}
	}
	checkTree(t, dir, "man")
}

// checkTree compares a directory with the generated files, and reports files that are no longer generated.
func checkTree(t *testing.T, from, to string) {
	t.Helper()
	made, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range made {
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		names[f.Name()] = true
		check(t, filepath.Join(to, f.Name()), b)
	}
	have, _ := os.ReadDir(filepath.Join(docs, to))
	for _, f := range have {
		if names[f.Name()] {
			continue
		}
		if *update {
			_ = os.Remove(filepath.Join(docs, to, f.Name()))
			continue
		}
		t.Errorf("docs/%s/%s is not generated any more", to, f.Name())
	}
}

func TestDocsConfig(t *testing.T) { check(t, "config.md", []byte(config.Markdown())) }

func TestDocsOpenAPI(t *testing.T) {
	b, err := httpapi.OpenAPI("v1")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	check(t, "openapi.json", out.Bytes())
}

// rowsFile contains the meaning of each row of the behaviour list, and is the list of them.
const rowsFile = docs + "/features.txt"

// featureRow is a row of the list of required behaviour.
type featureRow struct {
	n    int
	text string
}

// featureRows are the rows of the list, in order.
func featureRows(t *testing.T) []featureRow {
	t.Helper()
	var rows []featureRow
	for i, line := range strings.Split(readText(t, rowsFile), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		number, text, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(strings.TrimPrefix(number, "R"))
		if err != nil || text == "" || strings.HasSuffix(text, ".") || len(rows) > 0 && n <= rows[len(rows)-1].n {
			t.Fatalf("%s:%d: %q is no row with a phrase, or not in its place", rowsFile, i+1, line)
		}
		rows = append(rows, featureRow{n, text})
	}
	return rows
}

var (
	rowComment = regexp.MustCompile(`FEATURES: *((?:R\d+[, ]*)+)`)
	testName   = regexp.MustCompile(`^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
)

// TestDocsFeatures writes which tests prove which row, and so which rows nothing proves.
func TestDocsFeatures(t *testing.T) {
	proofs := map[int][]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("../..", path)
		collectProofs(proofs, filepath.ToSlash(rel), string(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("# Rows and their tests\n\nGenerated from docs/features.txt and the `FEATURES:` comments of tests. A row without tests is not proven. Tests marked *(full)* run in the full tier only, `LONGTERM_TESTS=full go test ./...`.\n\n" +
		"| row | meaning | tests |\n|---|---|---|\n")
	for _, row := range featureRows(t) {
		tests := proofs[row.n]
		delete(proofs, row.n)
		slices.Sort(tests)
		text := strings.Join(slices.Compact(tests), "<br>")
		if text == "" {
			text = "—"
		}
		fmt.Fprintf(&b, "| R%d | %s | %s |\n", row.n, row.text, text)
	}
	for n, tests := range proofs {
		t.Errorf("%s has no phrase for R%d, which %s proves", rowsFile, n, tests[0])
	}
	check(t, "features.md", b.Bytes())
}

// collectProofs adds the rows that comments of a file name to proofs, each with the test below the comment, marked where it
// runs in the full tier only. A script is one test.
func collectProofs(proofs map[int][]string, path, src string) {
	script := strings.HasSuffix(path, ".txtar")
	mark := func(isFull bool) string {
		if isFull {
			return " *(full)*"
		}
		return ""
	}
	var pending []int
	lines := strings.Split(src, "\n")
	for i, line := range lines {
		if m := rowComment.FindStringSubmatch(line); m != nil {
			for _, r := range strings.FieldsFunc(m[1], func(c rune) bool { return c == ',' || c == ' ' }) {
				n, _ := strconv.Atoi(r[1:])
				pending = append(pending, n)
			}
			if !script {
				continue
			}
		}
		name := ""
		if script {
			name = path + mark(strings.Contains(src, "\n[!full] skip "))
		} else if m := testName.FindStringSubmatch(line); m != nil {
			name = path + " " + m[1] + mark(i+1 < len(lines) && lines[i+1] == "\ttier.Full(t)")
		}
		if name == "" {
			continue
		}
		for _, n := range pending {
			proofs[n] = append(proofs[n], name)
		}
		pending = nil
	}
}

// TestMap checks that the map in docs/contributing.md has a line for every package, and for nothing else.
func TestMap(t *testing.T) {
	page := readText(t, docs+"/contributing.md")
	packages := theHouse(t).under(t, "")
	for _, pkg := range packages {
		if name := strings.TrimPrefix(pkg, module+"/"); !strings.Contains(page, "\n| `"+name+"` | ") {
			t.Errorf("docs/contributing.md has no line for %s", name)
		}
	}
	for line := range strings.SplitSeq(page, "\n") {
		name, ok := strings.CutPrefix(line, "| `")
		name, _, closed := strings.Cut(name, "` | ")
		if ok && closed && !slices.Contains(packages, module+"/"+name) {
			t.Errorf("docs/contributing.md has a line for %s, which is no package", name)
		}
	}
}

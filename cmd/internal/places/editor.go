//go:build unix

package places

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/longterm-dev/longterm/session/actor"
)

// Editor opens places.
type Editor struct {
	// Template is a line for the shell with {file}, {path}, {host}, {line} and {column}, which are quoted: the line
	// puts no quotes of its own around names. Empty: $VISUAL or $EDITOR, in the way of those that are known.
	Template string
	Stdin    *os.File
}

// manner is how an editor is told of a position. Numbers are at least 1.
type manner struct {
	names  []string // of programs
	local  string   // what follows the program's name
	remote string   // for a file of another host; empty: as local, with HOST:PATH
}

var manners = []manner{
	{[]string{"vim", "nvim", "gvim", "vim.basic", "vim.nox"}, "+'call cursor({line},{column})' {file}", "+'call cursor({line},{column})' {scp}"},
	{[]string{"emacs", "emacsclient", "mg", "jmacs"}, "+{line}:{column} {file}", "+{line}:{column} {tramp}"},
	{[]string{"nano", "rnano", "pico"}, "+{line},{column} {file}", ""},
	{[]string{"code", "codium", "code-insiders", "cursor", "windsurf"}, "--goto {file}:{line}:{column}", "--remote ssh-remote+{host} --goto {path}:{line}:{column}"},
	{[]string{"hx", "helix", "subl", "zed", "micro", "lapce"}, "{file}:{line}:{column}", ""},
	{[]string{"kak"}, "+{line}:{column} {file}", ""},
	{[]string{"gedit", "pluma", "xed"}, "+{line}:{column} {file}", ""},
	{[]string{"kate", "kwrite"}, "--line {line} --column {column} {file}", ""},
}

// anyManner is that of editors as POSIX has them: of vi, which need not be vim, too.
var anyManner = manner{local: "+{line} {file}"}

// program is the person's editor, a command that may have arguments.
func program() string { return cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi") }

func mannerOf(command string) *manner {
	words := strings.Fields(command)
	if len(words) == 0 {
		return &anyManner
	}
	name := filepath.Base(words[0])
	for i := range manners {
		for _, n := range manners[i].names {
			if n == name {
				return &manners[i]
			}
		}
	}
	return &anyManner
}

// Line is the line for the shell that opens a place.
func (e *Editor) Line(p *Place) (string, error) {
	line := e.Template
	if line == "" {
		command := program()
		m := mannerOf(command)
		line = command + " " + m.local
		if p.Host != "" && m.remote != "" {
			line = command + " " + m.remote
		}
	}
	if err := checkLine(line); err != nil {
		return "", err
	}
	file := p.File()
	if strings.HasPrefix(file, "-") || strings.HasPrefix(file, "+") {
		file = "./" + file // it is no option, nor a command of vi's
	}
	pairs := []string{"{line}", strconv.Itoa(max(1, p.Line)), "{column}", strconv.Itoa(max(1, p.Column))}
	for name, value := range map[string]string{
		"{file}": file, "{path}": p.Path, "{host}": p.Host,
		"{scp}": "scp://" + p.Host + "/" + p.Path, "{tramp}": "/ssh:" + p.Host + ":" + p.Path,
	} {
		quoted, err := syntax.Quote(value, syntax.LangPOSIX)
		if err != nil {
			return "", fmt.Errorf("the name %q cannot be given to an editor: %w", value, err)
		}
		pairs = append(pairs, name, quoted)
	}
	return strings.NewReplacer(pairs...).Replace(line), nil
}

// names stand for what somebody else chose: files may be called anything.
var names = []string{"{file}", "{path}", "{host}", "{scp}", "{tramp}"}

// checkLine refuses a line in which a name would not be one word: where the line has quotes of its own, those that are
// put around the name end them, and what a file is called is run.
func checkLine(line string) error {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return fmt.Errorf("the line that opens an editor is none of the shell: %w: %s", err, line)
	}
	bare := bareText(f)
	for _, name := range names {
		if strings.Count(line, name) != strings.Count(bare, name) || strings.Contains(bare, `\`+name) {
			return fmt.Errorf("%s is quoted when it is put in: leave out the quotes, the backslash or the $ before it in: %s", name, line)
		}
	}
	return nil
}

// bareText is what of a line stands in words, outside of quotes and of what is as good as quotes.
func bareText(f *syntax.File) string {
	var b strings.Builder
	here := map[syntax.Node]bool{} // documents
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted, *syntax.ParamExp, *syntax.ArithmExp:
			return false
		case *syntax.CmdSubst:
			return !n.Backquotes // where backslashes count twice
		case *syntax.Redirect:
			if n.Hdoc != nil {
				here[n.Hdoc] = true
			}
		case *syntax.Word:
			if here[n] {
				return false
			}
			for _, part := range n.Parts {
				if text, ok := part.(*syntax.Lit); ok {
					b.WriteString(text.Value + " ")
				}
			}
		}
		return true
	})
	return b.String()
}

// notFound is the shell's status for a program that is not there.
const notFound = 127

// Open has the person's editor open a place, on the terminal, and waits until that ends. The terminal is nobody
// else's meanwhile.
func (e *Editor) Open(ctx context.Context, p *Place) error {
	if label := os.Getenv(actor.Env); label != "" { // whoever sets EDITOR or the configuration would choose what is run
		return fmt.Errorf("no editor is opened for an agent (%s); a person does it, from a terminal without %s", label, actor.Env)
	}
	if p.Host == "" {
		var wrong *os.PathError
		if _, err := os.Stat(p.Path); errors.As(err, &wrong) { // the reason comes first: bars are short
			return fmt.Errorf("no editor is opened: %w: %s", wrong.Err, p.Path)
		}
	}
	line, err := e.Line(p)
	if err != nil {
		return err
	}
	// An interrupt is the editor's, too, and not always its end: killed, it would lose what was not saved.
	// The trap has the shell wait for it then; what it runs has none.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", "trap : INT; "+line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, os.Stdout, os.Stderr
	leaving, stop := signal.NotifyContext(context.WithoutCancel(ctx), endings()...)
	defer stop()
	if err := run(leaving, cmd, endTime); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() == notFound {
			return fmt.Errorf("there is no such editor: %s; set EDITOR, or editor.command of the configuration", line)
		}
		if errors.As(err, &ended) {
			return fmt.Errorf("the editor failed (%s): %s; set EDITOR, or editor.command of the configuration", ended.ProcessState, line)
		}
		return fmt.Errorf("the editor: %w", err)
	}
	return nil
}

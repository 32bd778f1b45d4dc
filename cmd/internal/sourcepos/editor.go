//go:build unix

package sourcepos

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

	"github.com/longterm-dev/longterm/session/identity"
)

// Editor opens places in the user's editor.
type Editor struct {
	// Template is a shell line with {file}, {path}, {host}, {line} and {column}. Their values are quoted, so the line
	// must not quote them. Empty: $VISUAL or $EDITOR, with the syntax of known editors.
	Template string
	Stdin    *os.File
}

// editorSyntax is how to pass a position to an editor. Numbers are at least 1.
type editorSyntax struct {
	names  []string // names of the editor's programs
	local  string   // arguments for a local file
	remote string   // arguments for a file on a remote host; empty means like local, with HOST:PATH
}

// editorSyntaxes lists the syntax of known editors.
var editorSyntaxes = []editorSyntax{
	{[]string{"vim", "nvim", "gvim", "vim.basic", "vim.nox"}, "+'call cursor({line},{column})' {file}", "+'call cursor({line},{column})' {scp}"},
	{[]string{"emacs", "emacsclient", "mg", "jmacs"}, "+{line}:{column} {file}", "+{line}:{column} {tramp}"},
	{[]string{"nano", "rnano", "pico"}, "+{line},{column} {file}", ""},
	{[]string{"code", "codium", "code-insiders", "cursor", "windsurf"}, "--goto {file}:{line}:{column}", "--remote ssh-remote+{host} --goto {path}:{line}:{column}"},
	{[]string{"hx", "helix", "subl", "zed", "micro", "lapce"}, "{file}:{line}:{column}", ""},
	{[]string{"kak"}, "+{line}:{column} {file}", ""},
	{[]string{"gedit", "pluma", "xed"}, "+{line}:{column} {file}", ""},
	{[]string{"kate", "kwrite"}, "--line {line} --column {column} {file}", ""},
}

// defaultSyntax is the syntax of vi, as POSIX defines it, for unknown editors.
var defaultSyntax = editorSyntax{local: "+{line} {file}"}

// program returns the user's editor, a command that may have arguments.
func program() string { return cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi") }

// syntaxOf returns the syntax of the editor that a command starts.
func syntaxOf(command string) *editorSyntax {
	words := strings.Fields(command)
	if len(words) == 0 {
		return &defaultSyntax
	}
	name := filepath.Base(words[0])
	for i := range editorSyntaxes {
		for _, n := range editorSyntaxes[i].names {
			if n == name {
				return &editorSyntaxes[i]
			}
		}
	}
	return &defaultSyntax
}

// Line returns the shell line that opens a place.
func (e *Editor) Line(p *Place) (string, error) {
	line := e.Template
	if line == "" {
		command := program()
		m := syntaxOf(command)
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

// placeholders are the placeholders in a template. Their values may be any file names.
var placeholders = []string{"{file}", "{path}", "{host}", "{scp}", "{tramp}"}

// checkLine rejects a line in which a value would not stay one word. If the line has its own quotes, they would end the
// quotes around the value, and a file name could run as a command.
func checkLine(line string) error {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return fmt.Errorf("editor.command: not a valid shell line: %w: %s", err, line)
	}
	bare := bareText(f)
	for _, name := range placeholders {
		if strings.Count(line, name) != strings.Count(bare, name) || strings.Contains(bare, `\`+name) {
			return fmt.Errorf("%s is quoted automatically: remove the quotes, the backslash or the $ around it in: %s", name, line)
		}
	}
	return nil
}

// bareText returns the parts of a line that are in words, outside of all kinds of quotes.
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

// notFound is the shell's exit status for a program that does not exist.
const notFound = 127

// Open opens a place in the user's editor on the terminal, and waits until it ends. The caller must not use the
// terminal meanwhile.
func (e *Editor) Open(ctx context.Context, p *Place) error {
	// an agent that sets EDITOR or the configuration would choose what runs
	if label := os.Getenv(identity.Env); label != "" {
		return fmt.Errorf("editor not opened: not allowed for an agent (%s); use a terminal without %s", label, identity.Env)
	}
	if p.Host == "" {
		var wrong *os.PathError
		if _, err := os.Stat(p.Path); errors.As(err, &wrong) { // the reason comes first: bars are short
			return fmt.Errorf("editor not opened: %w: %s", wrong.Err, p.Path)
		}
	}
	line, err := e.Line(p)
	if err != nil {
		return err
	}
	// An interrupt also reaches the editor, and need not end it: if it were killed, unsaved text would be lost. The
	// trap makes the shell wait for it; the editor itself has no trap.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", "-c", "trap : INT; "+line)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.Stdin, os.Stdout, os.Stderr
	leaving, stop := signal.NotifyContext(context.WithoutCancel(ctx), endings()...)
	defer stop()
	if err := run(leaving, cmd, endTime); err != nil {
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() == notFound {
			return fmt.Errorf("editor not found: %s; set EDITOR, or editor.command of the configuration", line)
		}
		if errors.As(err, &ended) {
			return fmt.Errorf("editor failed (%s): %s; set EDITOR, or editor.command of the configuration", ended.ProcessState, line)
		}
		return fmt.Errorf("the editor: %w", err)
	}
	return nil
}

package policy

import (
	"path"
	"regexp"
	"strings"
)

// drive is the root of a disk, or a directory of Windows.
var drive = regexp.MustCompile(`(?i)^("|')?([a-z]:([\\/]+(\*(\.\*)?)?)?|[a-z]:[\\/]+(windows|users|program files( \(x86\))?)([\\/]+\*?)?|` +
	`\$env:(systemdrive|systemroot|userprofile|windir)[\\/]*\*?|%(systemdrive|systemroot|userprofile|windir)%[\\/]*\*?|\$home|~|[\\/]+\*?)("|')?$`)

// windowsUnknown starts text that is run, and known only then.
var windowsUnknown = regexp.MustCompile(`(?i)(^|[\s;|(&{])(iex|invoke-expression|invoke-command|icm|start-process|saps|add-type|` +
	`\[scriptblock\]::create)([\s(]|$)|(^|[;|{(]\s*|=\s*)[&.]\s*[$("']|-e(nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{8,}|frombase64string`)

// windows judges a line of PowerShell or cmd.exe. Both are read only as far as words and separators:
// what starts other text is asked about.
func (w *walk) windows(text string) {
	if tooDeep(text) {
		w.unknown([]string{clip(text)}, "it is too long or nested too deep to be judged")
		return
	}
	for _, part := range windowsParts(text) {
		w.windowsCommand(windowsWords(part))
	}
	if windowsUnknown.MatchString(text) {
		w.unknown([]string{clip(text)}, "it runs text that is not known before it runs")
	}
}

// windowsParts splits a line at separators outside of quotes.
func windowsParts(text string) []string {
	var parts []string
	quote, from := byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '\n' || c == '\r' || c == ';' || c == '|' || c == '&' || c == '(' || c == ')' ||
			c == '{' || c == '}':
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

func windowsWords(part string) []string {
	var words []string
	var cur strings.Builder
	quote, open := rune(0), false
	for _, c := range part {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			cur.WriteRune(c)
		case c == '"' || c == '\'':
			quote, open = c, true
		case c == '`' || c == '^':
		case c == ' ' || c == '\t' || c == ',':
			if open {
				words = append(words, cur.String())
				cur.Reset()
			}
			open = false
		default:
			cur.WriteRune(c)
			open = true
		}
	}
	if open {
		words = append(words, cur.String())
	}
	return words
}

// windowsCommand judges the words of one command.
func (w *walk) windowsCommand(argv []string) {
	if len(argv) == 0 || w.nested > maxNested {
		return
	}
	w.nested++
	defer func() { w.nested-- }()
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(argv[0], `\`, "/"))), ".exe")
	args := argv[1:]
	c := Command{Argv: argv}
	lower := strings.ToLower(strings.Join(args, " "))
	root := false
	for _, a := range args {
		root = root || drive.MatchString(a)
	}
	has := func(options ...string) bool {
		for _, o := range options {
			if strings.Contains(" "+lower+" ", o) {
				return true
			}
		}
		return false
	}
	switch name {
	case "cmd", "powershell", "pwsh":
		for i, a := range args {
			if l := strings.ToLower(a); l == "/c" || l == "/k" || l == "-c" || l == "-command" {
				w.windows(strings.Join(args[i+1:], " "))
				return
			}
		}
	case "wsl", "bash", "sh":
		w.run(append([]string{name}, args...), stream{})
		return
	case "rd", "rmdir", "del", "erase", "remove-item", "ri", "rm":
		if root && has("/s", "-r", "-force", "/q", "-rf") {
			w.deny(&c, "hard:remove", whyRemove, useRemove)
		} else if has(" $") && has("-r", "/s") {
			w.ask(&c, "hard:remove", whyPerhaps)
		}
	case "format":
		if len(args) > 0 && drive.MatchString(args[0]) {
			w.deny(&c, "hard:device", whyDevice, useDevice)
		}
	case "format-volume", "clear-disk", "initialize-disk", "remove-partition", "reset-physicaldisk",
		"diskpart", "new-partition", "clear-content-disk":
		if !has("-whatif", "-?") {
			w.deny(&c, "hard:device", whyDevice, useDevice)
		}
	case "vssadmin", "wmic":
		if has("delete") {
			w.deny(&c, "hard:device", "it deletes the copies that files are restored from", "")
		}
	case "bcdedit", "reg", "cipher":
		if has("/delete", "delete hklm", "/w:c") {
			w.ask(&c, "hard:system", "it changes what the machine needs to start")
		}
	}
	if len(args) > 0 && (name == "sudo" || name == "gsudo" || name == "start" || name == "call" ||
		name == "foreach-object") {
		w.windowsCommand(args)
	}
	for i := range w.engine.rules {
		if r := &w.engine.rules[i]; strings.EqualFold(r.Program, name) && r.Decision == Deny && len(r.Words) == 0 {
			w.deny(&c, r.Name, r.Why, r.Instead)
		}
	}
	if w.engine.preset != Off {
		if strings.HasPrefix(name, "$") && !strings.Contains(name, "=") && len(argv) > 0 &&
			!strings.ContainsAny(argv[0], ".:[") && len(args) > 0 &&
			args[0] != "=" && !strings.HasPrefix(args[0], "-") {
			w.ask(&c, "unknown", "which program runs is not known before it runs")
		}
		if w.engine.preset != Hard && c.Verdict == Allow && !windowsReads[name] {
			w.ask(&c, "not reading", "it is not known to only read")
		}
	}
	w.record(c)
}

// windowsReads are commands and cmdlets that only read.
var windowsReads = map[string]bool{"dir": true, "type": true, "echo": true, "get-childitem": true,
	"get-content": true, "get-location": true,
	"get-process": true, "get-item": true, "select-string": true, "where": true, "ver": true,
	"hostname": true, "get-date": true,
	"measure-object": true, "sort-object": true, "select-object": true, "write-output": true,
	"test-path": true, "get-command": true}

// fish judges fish text that bash cannot parse: its blocks are read as lists of commands.
func (w *walk) fish(text string) stream {
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, ";", "\n")) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "end", "else", "function", "switch", "case", "for":
			continue
		case "begin", "if", "while", "and", "or", "not":
			line = rest
		}
		b.WriteString(strings.NewReplacer("(", "$(", "$$(", "$(").Replace(line) + "\n")
	}
	w.unknown([]string{clip(text)}, "fish's own forms are not judged")
	w.shell = ""
	return w.source(b.String())
}

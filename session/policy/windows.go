package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/bound"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// windowsRoot matches the root of a disk, or a directory of Windows.
var windowsRoot = pattern.Lazy(`(?i)^("|')?([\\/]{2}[?.][\\/])?([a-z]:([\\/]+(\*(\.\*)?)?)?|[a-z]:[\\/]+(users|program files( \(x86\))?)([\\/]+\*?)?|[a-z]:[\\/]+windows([\\/].*)?|` +
	`\$env:(systemdrive|systemroot|userprofile|windir)[\\/]*\*?|%(systemdrive|systemroot|userprofile|windir)%[\\/]*\*?|(\$home|~)([\\/]+\*?)?|[\\/]+\*?)("|')?$`)

// windowsUnknown matches the start of text that is run and known only then.
var windowsUnknown = pattern.Lazy(`(?i)(^|[\s;|(&{])(iex|invoke-expression|invoke-command|icm|add-type|` +
	`\[scriptblock\]::create)([\s(]|$)|(^|[;|{(]\s*|=\s*)[&.]\s*[$("']|-e(nc|ncodedcommand|c)?\s+[A-Za-z0-9+/=]{8,}|frombase64string`)

// windows judges a line of PowerShell or cmd.exe. It reads only words and separators; other ways to start text need
// approval.
func (cr *codeReader) windows(text string) {
	if len(text) > bound.MaxShort || bound.IsTooLarge(text) {
		cr.unknown([]string{clip(text)}, "too long or nested too deeply to judge")
		return
	}
	text = strings.NewReplacer("`\r\n", " ", "`\n", " ", "^\n", " ").Replace(text)
	cr.nested++
	defer func() { cr.nested-- }()
	if cr.nested > maxNested {
		cr.unknown([]string{clip(text)}, "it is nested too deep to be judged")
		return
	}
	piped, varied, narrowed, steps := false, false, false, 0
	for _, part := range windowsParts(text) {
		if steps++; steps > maxSteps {
			cr.unknown([]string{clip(text)}, "it is too long to be judged")
			break
		}
		words := windowsWords(part.text)
		if part.after != '|' && part.after != '(' && part.after != ')' && part.after != '{' {
			piped, varied, narrowed = false, false, false
		}
		narrowed = narrowed || windowsNarrows(words)
		cr.win.piped, cr.win.rootVariable, cr.win.narrowed = piped, varied, narrowed
		cr.windowsCommand(words)
		for _, word := range words {
			piped = piped || windowsRoot.MatchString(word) || word == "/"
			varied = varied || windowsBare.MatchString(word) && !strings.HasPrefix(word, "$_")
		}
	}
	if windowsUnknown.MatchString(text) {
		cr.unknown([]string{clip(text)}, "it runs text that is not known before it runs")
	}
	for _, m := range windowsInner.FindAllStringSubmatch(text, 50) {
		cr.windows(m[1])
	}
	if windowsDeletes.MatchString(text) {
		c := Command{Argv: []string{clip(text)}}
		cr.ask(&c, "hard:remove", whyPerhaps)
		cr.record(c)
	}
	if m := windowsSpins.FindString(text); m != "" && !windowsWaits.MatchString(m) {
		c := Command{Argv: []string{clip(text)}}
		cr.deny(&c, "hard:forkbomb", whySpins, "")
		cr.record(c)
	}
	if strings.Contains(text, `\\.\`) && windowsRaw.MatchString(text) {
		c := Command{Argv: []string{clip(text)}}
		cr.deny(&c, "hard:device", whyDevice, useDevice)
		cr.record(c)
	}
}

// windowsState is the state before a command of a Windows line.
type windowsState struct {
	piped        bool              // its input is a disk's root
	rootVariable bool              // the root is the value of a variable
	narrowed     bool              // a filter selects a part of it
	root         bool              // it runs in a disk's root
	aliases      map[string]string // aliases that the line defines
}

var (
	// windowsInner is a substitution in a double-quoted string.
	windowsInner = pattern.Lazy(`"[^"]*\$\(([^()"]*)\)`)
	// windowsDeletes matches methods that delete the content of the root, or the copies for restoring files.
	windowsDeletes = pattern.Lazy(`(?i)diagnostics\.process\]::start\(|::delete\(\s*["']?([a-z]:[\\/]|\$|[\\/])|shadowcopy.*\.delete\(|\.delete\(\s*\$true`)
	// windowsRaw matches a write to a disk device.
	windowsRaw = pattern.Lazy(`(?i)(>|set-content|add-content|out-file|of=|copy-item|copy|\bsc)\s[^;|&]*\\\\\.\\(physicaldrive|[a-z]:)|>\\\\\.\\physicaldrive`)
)

// windowsPart is a command of a line, with the separator before it.
type windowsPart struct {
	text  string
	after byte // separator before it
}

// windowsParts splits a line at separators outside of quotes.
func windowsParts(text string) []windowsPart {
	var parts []windowsPart
	quote, from, after := byte(0), 0, byte(0)
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
			if strings.TrimSpace(text[from:i]) != "" {
				parts = append(parts, windowsPart{text[from:i], after})
				after = c
			} else if c != '|' && c != '(' {
				after = c
			}
			from = i + 1
		}
	}
	return append(parts, windowsPart{text[from:], after})
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

// joinedSwitches is a command of cmd.exe's own with its switches joined to it: rd/s/q, del/f, cmd/c.
var joinedSwitches = pattern.Lazy(`(?i)^@*(?:rd|rmdir|del|erase|format|cmd|takeown|icacls|start|cipher)(?:\.exe)?/`)

// windowsSwitches takes joined switches from the command's name.
func windowsSwitches(argv []string) []string {
	if !joinedSwitches.MatchString(argv[0]) {
		return argv
	}
	name, switches, _ := strings.Cut(argv[0], "/")
	words := []string{name}
	for s := range strings.SplitSeq(switches, "/") {
		words = append(words, "/"+s)
	}
	return append(words, argv[1:]...)
}

// isSplatted reports whether an argument expands to several from a variable: Remove-Item @all.
func isSplatted(a string) bool {
	name, is := strings.CutPrefix(a, "@")
	return is && isVariableName(strings.ReplaceAll(name, ":", "_"))
}

// windowsNarrows reports whether a command of a pipe selects some of the files that it gets or lists.
func windowsNarrows(words []string) bool {
	return len(words) > 0 && windowsFilters.has(strings.ToLower(words[0])) || slices.ContainsFunc(words, func(a string) bool {
		a = strings.ToLower(a)
		return strings.HasPrefix(a, "-filt") || strings.HasPrefix(a, "-inc") || strings.Contains(a, "*.") && !strings.HasSuffix(a, "*.*")
	})
}

// windowsFilters select objects in a pipe.
const windowsFilters = words("where-object where ? select-object select")

// windowsCommand judges the words of one command.
func (cr *codeReader) windowsCommand(argv []string) {
	if len(argv) == 0 || cr.nested > maxNested {
		return
	}
	cr.nested++
	defer func() { cr.nested-- }()
	argv = windowsSwitches(argv)
	name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(strings.TrimLeft(argv[0], "@"), `\`, "/"))), ".exe")
	args := argv[1:]
	if len(args) == 0 && strings.Contains(argv[0], " ") { // a text: the argument of a method, perhaps
		cr.mergeFindings(func() { cr.windows(argv[0]) })
	}
	if name == "%comspec%" || name == "$env:comspec" {
		name = "cmd"
	}
	if to, ok := cr.win.aliases[name]; ok {
		name = to
	}
	if len(args) > 1 && strings.HasPrefix(name, "$") && args[0] == "=" || len(args) > 0 && (name == "." || name == "&") { // what is assigned is run
		cr.windowsCommand(strings.Fields(strings.TrimPrefix(strings.Join(args, " "), "= ")))
	}
	if row := programs.Lookup(name); row != nil && !windowsOwn.has(name) { // a program of the system, where that is no Windows
		cr.keepDenials(func() { cr.run(append([]string{name}, args...), stream{}) })
	}
	c := Command{Argv: argv}
	lower := strings.ToLower(strings.Join(args, " "))
	root := cr.win.piped
	bare := false
	for _, a := range args {
		root = root || windowsRoot.MatchString(a) || strings.HasPrefix(a, "/") && cr.removalDanger(strings.ReplaceAll(a, "*", globStar)) == fatal || cr.win.root && (a == "*" || a == "." || a == "*.*")
		bare = bare || windowsBare.MatchString(a)
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
			option, rest, joined := strings.Cut(strings.ToLower(a), " ")
			if name == "cmd" && len(a) > 2 && (strings.HasPrefix(option, "/c") || strings.HasPrefix(option, "/k")) { // nothing has to stand between
				cr.windows(a[2:] + " " + strings.Join(args[i+1:], " "))
				return
			}
			if option == "/c" || option == "/k" || len(option) > 1 && strings.HasPrefix("-command", option) || option == "-commandwithargs" {
				if joined { // an argument with blanks in it
					rest = a[len(option)+1:] + " "
				}
				cr.windows(rest + strings.Join(args[i+1:], " "))
				return
			}
		}
		if name != "cmd" && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			cr.windows(strings.Join(args, " "))
			return
		}
	case "wsl", "bash", "sh":
		cr.run(append([]string{name}, args...), stream{})
		return
	case "rd", "rmdir", "del", "erase", "remove-item", "ri", "rm":
		if root && has("/s", "-r", "-fo", "/q") {
			cr.deny(&c, "hard:remove", whyRemove, useRemove)
		} else if (bare || cr.win.rootVariable) && has(" -r", " /s", " -fo") || slices.ContainsFunc(args, isSplatted) {
			cr.ask(&c, "hard:remove", whyPerhaps)
		} else if root && !cr.win.narrowed && !has("-whatif") {
			cr.ask(&c, "hard:remove", whyEach)
		} else if has("hklm:") && has(" -r") {
			cr.ask(&c, "hard:system", "it changes what the machine needs to start")
		}
	case "format":
		if slices.ContainsFunc(args, windowsRoot.MatchString) {
			cr.deny(&c, "hard:device", whyDevice, useDevice)
		}
	case "format-volume", "clear-disk", "initialize-disk", "remove-partition", "reset-physicaldisk",
		"diskpart", "new-partition", "clear-content-disk":
		if !has("-whatif", "-?") {
			cr.deny(&c, "hard:device", whyDevice, useDevice)
		}
	case "takeown", "icacls", "cacls":
		if root && has(" /r", " /t") {
			cr.ask(&c, "hard:system", "it changes access to the whole system")
		}
	case "clear-content", "clc", "set-content":
		if has(`\windows\`) || root && !cr.win.narrowed && !has("-whatif") {
			cr.ask(&c, "hard:overwrite", "it may overwrite a file that the machine needs")
		}
	case "cd", "set-location", "sl", "chdir", "push-location", "pushd":
		cr.win.root = root
	case "set-alias", "new-alias", "sal", "nal":
		var plain []string
		for _, a := range args {
			if !strings.HasPrefix(a, "-") {
				plain = append(plain, strings.ToLower(a))
			}
		}
		if len(plain) > 1 {
			if cr.win.aliases == nil {
				cr.win.aliases = map[string]string{}
			}
			cr.win.aliases[plain[0]] = plain[1]
		}
	case "conhost":
		cr.windowsCommand(args)
	case "start-process", "saps", "start":
		cr.windowsStart(args)
		return
	case "if", "for", "do", "else", "in":
		for i, a := range args {
			if windowsDestroys.has(strings.ToLower(strings.Trim(a, "@"))) {
				cr.windowsCommand(args[i:])
				break
			}
		}
	case "schtasks", "invoke-wmimethod", "register-scheduledtask", "new-scheduledtaskaction", "register-scheduledjob", "at",
		"invoke-cimmethod", "psexec", "winrs", "runas", "forfiles", "mshta", "rundll32", "waitfor", "wscript", "cscript":
		for _, a := range args {
			if strings.Contains(a, " ") {
				cr.mergeFindings(func() { cr.windows(a) })
			}
		}
	case "vssadmin", "wmic":
		if has("delete") {
			cr.deny(&c, "hard:device", "it deletes the copies that files are restored from", "")
		}
	case "bcdedit", "reg", "cipher", "remove-itemproperty", "rp":
		if has("/delete", "delete hklm", "/w:c", "hklm:", "recoveryenabled") {
			cr.ask(&c, "hard:system", "it changes what the machine needs to start")
		}
	}
	if len(args) > 0 && (name == "sudo" || name == "gsudo" || name == "call" ||
		name == "foreach-object") {
		cr.windowsCommand(args)
	}
	for i := range cr.engine.rules {
		if r := &cr.engine.rules[i]; strings.EqualFold(r.Program, name) && r.Decision == Deny && len(r.Words) == 0 {
			cr.deny(&c, r.Name, r.Why, r.Instead)
		}
	}
	if cr.engine.preset != Off {
		if strings.HasPrefix(name, "$") && !strings.Contains(name, "=") && len(argv) > 0 &&
			!strings.ContainsAny(argv[0], ".:[") && len(args) > 0 &&
			args[0] != "=" && args[0] != "in" && !strings.HasPrefix(args[0], "-") || strings.HasPrefix(name, "%") && len(name) > 1 &&
			name != "%_" {
			cr.ask(&c, "unknown", "which program runs is not known before it runs")
		}
		if cr.engine.preset != Hard && c.Verdict == Allow && !windowsReads.has(name) {
			cr.ask(&c, "not reading", "it is not known to only read")
		}
	}
	cr.record(c)
}

// windowsOwn are names that mean something else to PowerShell and cmd.exe than to other shells.
var windowsOwn = words("cmd powershell pwsh wsl bash sh rd rmdir del erase ri rm format if for do else in start sort where find type dir echo set cd copy move " +
	"at more curl wget cat cp ls mv ps kill pwd tee sleep diff history man mount clear compare select foreach sc sl sp si gc gi gp ac rp rv call exit")

// windowsReads are commands and cmdlets that only read.
var windowsReads = words("dir type echo get-childitem get-content get-location get-process get-item select-string where ver " +
	"hostname get-date measure-object sort-object select-object write-output test-path get-command")

// windowsBare matches a variable that is the whole of a path, or its root.
var windowsBare = pattern.Lazy(`(?i)^["']?(\$[\w:.]+|%+[\w~]+%?)[\\/]?\*?["']?$`)

// windowsDestroys are commands that may follow the words of a control structure.
var windowsDestroys = fieldSet("rd rmdir del erase format diskpart vssadmin powershell pwsh cmd remove-item ri rm")

// startOption is an option of Start-Process itself.
var startOption = pattern.Lazy(`^-(?:a(?:rg\w*)?|filepath|w(?:ait|indowstyle|orkingdirectory)|verb|nonewwindow|nnw|passthru|credential|` +
	`loaduserprofile|lup|redirect\w+|rs[eio]|usenewenvironment|environment)$`)

// windowsSpins are loops without an end that start a program each time, and do not wait.
var windowsSpins = pattern.Lazy(`(?is)(?:while\s*\(\s*(?:\$true|1)\s*\)|for\s*\(\s*;\s*;\s*\))\s*\{([^}]*\b(?:start-process|saps|start-job|` +
	`start)\b[^}]*)\}|%~?[dpnx]*0\s*\|\s*(?:start\s+)?%~?[dpnx]*0|:(\w+)\b[^:]*\bstart\b[^:]*\bgoto\b`)

// windowsWaits is a command that takes its time.
var windowsWaits = pattern.Lazy(`(?i)\b(?:sleep|start-sleep|wait\w*|timeout|read-host|pause|ping|-wait|break|exit)\b`)

// windowsStart judges Start-Process and start: the program, and the arguments that an option may hold.
func (cr *codeReader) windowsStart(args []string) {
	var words []string
	listed := false // the arguments of the program follow, and may look like options
	for i := 0; i < len(args); i++ {
		a := strings.ToLower(args[i])
		switch {
		case listed && !startOption.MatchString(a), len(words) > 0 && strings.Contains(a, " "):
			words = append(words, args[i])
		case strings.HasPrefix(a, "-a"):
			listed = true
		case strings.HasPrefix(a, "-f"):
		case strings.HasPrefix(a, "-w") && a != "-wait", a == "-verb", strings.HasPrefix(a, "-redirect"), a == "/d":
			i++
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, "/") && len(words) == 0:
		default:
			words = append(words, args[i])
		}
	}
	if len(words) > 0 {
		if strings.HasPrefix(words[0], "$") {
			cr.unknown(words, "which program runs is not known before it runs")
		}
		cr.windows(strings.Join(words, " "))
	}
}

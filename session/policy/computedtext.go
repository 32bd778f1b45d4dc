package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Commands that code puts together when it runs are unknown. This file has the forms of languages in which a literal needs no quotes.

const whyComputed = "what it runs is put together when it runs"

var (
	// tclRuns is a call that runs a program, with its words; tclComputed is code, or the name of a command, that is computed.
	tclRuns     = pattern.Lazy(`(?m)(?:^|[\s;{\["])(?:exec|spawn|system)\s+(?:-[\w-]+\s+)*([^;\n]+)`)
	tclComputed = pattern.Lazy(`(?m)\b(?:eval|uplevel|subst)\s[^;\n]*[$\[]|\|\s*[$\[]|(?:^|;)\s*[\[$]|\bsend\s+(?:-\w+\s+|--\s+)*["{]?[$\[]`)

	// callsIn are the calls of nim and raku that run text; dcMacros are commands of dc that run computed text, or what it reads.
	callsIn  = pattern.Lazy(`\b(?:exec|execCmd|execCmdEx|execShellCmd|execProcess|startProcess|staticExec|gorge|gorgeEx|rmDir|rmFile|removeDir|removeFile|shell|run|EVAL)\b`)
	literals = pattern.Lazy(`^\s*\(?\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)?\s*(?:$|[;\n)])`)
	dcMacros = pattern.Lazy(`\?|(?:^|[^lsLS:;])a.*x`)
	dcEscape = pattern.Lazy(`!([^<>=\]\n][^\]\n]*)`)

	// lispComputed is a form within the call of a program that is neither a list of words nor quoted; rubyShell is a command in backquotes.
	lispComputed = pattern.Lazy(`[^']\((?:[\w.:*+/-]*:)?(?:string-append|concat|concatenate|format|string|apply|str|list->string|symbol->string|getenv|string-join|join|mapconcat|reverse|nreverse|coerce)\b`)
	rubyShell    = pattern.Lazy("`[^`]*#\\{[^`]*`|%x[({\\[][^)}\\]]*#\\{")
)

// giveCode are programs that run the text which Tcl gives them.
const giveCode = words("sh bash zsh dash ksh env sudo doas su xargs eval python python3 perl ruby rm dd find chmod")

// computes reports code that runs a command which is not written out.
func computes(name, lang, text string) bool {
	switch {
	case name == "tclsh" || name == "wish" || name == "expect" || name == "jimsh":
		if tclComputed.MatchString(text) {
			return true
		}
		for _, m := range tclRuns.FindAllStringSubmatch(text, maxCalls) {
			program, rest, _ := strings.Cut(strings.TrimSpace(m[1]), " ")
			if strings.ContainsAny(program, "$[{") || giveCode.has(path.Base(program)) && strings.ContainsAny(rest, "$[") {
				return true
			}
		}
	case name == "nim" || name == "raku" || name == "perl6" || name == "rakudo":
		for _, at := range callsIn.FindAllStringIndex(text, maxCalls) {
			if !literals.MatchString(text[at[1]:]) {
				return true
			}
		}
	case name == "dc":
		return dcMacros.MatchString(text)
	case lang == "ruby":
		return rubyShell.MatchString(text)
	}
	return false
}

// judgeComputed reports code that runs what is not written out as unknown, and judges the escapes of dc and the calls of nim.
func (cr *codeReader) judgeComputed(lang, text string, x *invocation) {
	switch x.name {
	case "dc":
		for _, m := range dcEscape.FindAllStringSubmatch(text, maxCalls) {
			cr.runsText(m[1])
		}
	case "nim":
		for _, at := range callsIn.FindAllStringIndex(text, maxCalls) {
			if m := literals.FindStringSubmatch(text[at[1]:]); m != nil {
				cr.runsText(m[1] + m[2])
			}
		}
	}
	if len(text) <= maxCode && computes(x.name, lang, text) {
		cr.unknown(x.argv, whyComputed)
	}
}

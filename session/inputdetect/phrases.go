package inputdetect

import (
	"strings"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/pattern"
)

// maxLineBytes bounds the examined part of a line: its end, where prompts are.
const maxLineBytes = 512

// secretWords are names of secrets in prompts, in common languages.
const secretWords = `pass(?:word|phrase|code|wd)|pin(?: code)?|secret|otp|one-time code|verification code|` +
	`authentication code|api[ _-]?key|access token|auth token|token|` +
	`passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|adgangskode|hasło|parola|пароль|` +
	`密码|密碼|口令|パスワード|암호|비밀번호`

// secretPattern matches a line with one of secretWords.
var secretPattern = pattern.Lazy(`(?i)(?:` + secretWords + `)`)

// phrase is a row of the table of prompts: the form of an unfinished line that prompts for a kind of input.
type phrase struct {
	kind      Kind
	pattern   pattern.Pattern
	reason    string // part of Verdict.Reason
	yesNoOnly bool   // only for questions that yes or no can answer
}

// answerEnd matches what may follow an offer: the default, and keys already typed.
const answerEnd = `(?:\s*\[[^\]]{0,20}\])?[?:>›»]*\s*\S{0,3}$`

// phrases are tried in order on the text before the cursor.
var phrases = []phrase{
	{Password, pattern.Lazy(`(?i)(?:^|[^\pL\pN])(?:` + secretWords + `)(?:$|[^\pL\pN].*)[:?>›»：]\s*[*•●∙·]*\s*$`), "prompts for a secret", false},
	{Password, pattern.Lazy(`(?i)(?:` + secretWords + `)\s*[:：]\s*[*•●∙·]*\s*$`), "prompts for a secret", false},
	{Menu, pattern.Lazy(`^\s*(?:#\?|\?#) ?\S{0,3}$`), "is the shell's select prompt", false},
	{Confirm, pattern.Lazy(`(?i)[\[(<{]\s*(?:y(?:es)?|n(?:o)?|j(?:a)?|o(?:ui)?|s(?:i|í)?|д)\s*(?:[/|,]\s*\[?[\pL?!-][\pL-]*\]?\s*){1,12}[\])>}]\s*` + answerEnd), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)[\[(<]\s*\[?y(?:es)?\]?\s+or\s+\[?no?\]?\s*[\])>]\s*` + answerEnd), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\[(?:[a-z?!/],){2,14}[a-z?!/]\]\s*` + answerEnd), "offers keys", false},
	{Confirm, pattern.Lazy(`(?i)\(\s*(?:y|yes|n|no)\s*\)\s*` + answerEnd), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\[y\]es,? *\[n\]o.*` + answerEnd), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\by(?:es)?\s*/\s*no?\s*[)\]]?\s*` + answerEnd), "offers yes or no", false},
	{Confirm, pattern.Lazy(`(?i)\b(?:press|hit|drücken sie|appuyez sur)\b.{0,40}\b(?:key|enter|return|space|taste|touche|any)\b.{0,60}$`), "prompts for a key", false},
	{Confirm, pattern.Lazy(`--\s?(?:More|Mehr|Plus)\s?--(?:\s*\(\d+%\))?\s*$`), "is a pager's prompt", false},
	{Confirm, pattern.Lazy(`(?i)\b(?:are you sure|do you (?:really )?(?:want|wish)|would you like|shall (?:i|we)|should (?:i|we)|is (?:this|that) (?:ok|correct|right)|ok to|really)\b[^?]*` + `\?\s*\S{0,3}$`), "prompts for confirmation", true},
	{Confirm, pattern.Lazy(`(?i)\b(?:continue|proceed|overwrite|replace|delete|remove|abort|retry|confirm|accept|trust|quit|exit|install|upgrade|fortfahren|continuer)\b[^?]*\?\s*\S{0,3}$`), "prompts for confirmation", true},
	{Confirm, pattern.Lazy(`(?i)\b(?:type|enter)\s+["'“‘]?yes["'”’]?\b.*[:?>]\s*\S{0,3}$`), "prompts for the word yes", false},
}

// openQuestion matches questions that yes or no cannot answer.
var openQuestion = pattern.Lazy(`(?i)(?:^|[^\pL])(?:what|which|where|who|how|when|why|welche[rs]?|wie|quel(?:le)?)(?:$|[^\pL])`)

// yesLine matches the second line of a question, which lists the accepted answers.
var yesLine = pattern.Lazy(`(?i)(?:only|type|enter|write)\s+["'“‘]?yes["'”’]?`)

// questionLine matches a question that ended its line, so that the cursor is on the next one.
var questionLine = pattern.Lazy(`(?i)(?:[\[(]y(?:es)?/no?[\])]\s*[:?]?|\b(?:press|hit)\b.{0,40}\b(?:key|enter|return)\b.{0,60})\s*$`)

var (
	// promptEnd matches the end of an unfinished line that waits for its continuation.
	promptEnd = pattern.Lazy(`[:?>$#%»›❯➜λ)\]：？] $|[:?>：？]$`)
	// replPrompt matches the prompt of an interpreter, which is no question.
	replPrompt = pattern.Lazy(`^(?:>>>|\.\.\.|\(\w+\)|(?:In|Out) ?\[\d+\]:|ftp>|[\w.@:/-]{1,40}(?:\([\w@/.:-]{0,60}\))?(?::\d{1,4})*(?::\d)?[=*!^'"-]?[>#]) $`)
	// remotePrompt matches a shell's prompt behind a relay: user, host or directory before its sign.
	remotePrompt = pattern.Lazy(`^[^\s:]*[\w\])@~/-](?:[:@ ][^\s]*)*\s?[$#%❯➜] $`)
	// fishReadPrompt matches the prompt of fish's builtin read.
	fishReadPrompt = pattern.Lazy(`^read> `)
	// shellPromptEnd matches the end of a shell's prompt, perhaps followed by a partial command.
	shellPromptEnd = pattern.Lazy(`[$#%>❯➜λ»›⟩](?: |$)`)
	// menuWords matches a request for a choice from the list above.
	menuWords = pattern.Lazy(`(?i)\b(?:choice|choose|select(?:ion)?|option|pick|which|number|auswahl|choix)\b`)
	// numberedChoice matches a row of a numbered list of choices.
	numberedChoice = pattern.Lazy(`^\s*[\[(]?(\d{1,3})[\]).:]\s*\S`)
	// markedChoice matches a choice with the marker of an arrow-key menu.
	markedChoice = pattern.Lazy(`^\s*(?:│\s*)?(?:[❯›▸▶►➤→◆●◉◯○◻◼☐☑☒✔✓]|\[[ xX*]\])\s*\S`)
	// pointedChoice matches a choice with a plain marker, which counts only above or below similar rows.
	pointedChoice = pattern.Lazy(`^(\s*)[>*] (?:\S)`)
	// menuHeading matches the heading of an arrow-key menu.
	menuHeading = pattern.Lazy(`^\s*(?:│\s*)?(?:\?|◆|\[\?\]|❓|›)\s+\S`)
	// progressLine matches a line that a program redraws while it works.
	progressLine = pattern.Lazy(`(?i)\d\s?%|[█▓▒░━▰▱■□]{3}|\[[=#>.\-\s*]{5,}\]|[=#]{4,}>|\bETA\b|\b\d+(?:\.\d+)?\s?[kmgt]i?b(?:/s|ps)|` +
		`\b\d+\s?/\s?\d+\b|[\x{2800}-\x{28ff}◐◓◑◒◴◷◶◵◰◳◲◱⣾⣽⣻⢿⡿⣟⣯⣷]|(?:^|\s)[|/\\-]$|^[|/\\-]\s|[^\s.…]\s?(?:\.{2,}|…)\s?$|\b\d+ of \d+\b`)
	// pagerPrompt matches the prompt of a pager.
	pagerPrompt = pattern.Lazy(`^(?:\(END\)|:|.*\(press h for help or q to quit\)|lines \d+-\d+.*)\s*$`)
)

// lineEnd returns the examined end of a line.
func lineEnd(line string) string { return lastBytes(line, maxLineBytes) }

// lastBytes returns the end of a text, at most n bytes of whole characters.
func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// findPhrase returns the first phrase that matches a line.
func findPhrase(line string) (phrase, bool) {
	if strings.TrimSpace(line) == "" {
		return phrase{}, false
	}
	for _, p := range phrases {
		if p.pattern.MatchString(line) && !(p.yesNoOnly && openQuestion.MatchString(line)) {
			return p, true
		}
	}
	return phrase{}, false
}

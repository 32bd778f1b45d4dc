package canvas

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// Lend releases the terminal to another program, in the state before the screen started.
func Lend(screen tcell.Screen) error {
	StopBackgroundReports(screen)
	return screen.Suspend()
}

// Reclaim takes the terminal back after Lend and queries its background again.
func Reclaim(screen tcell.Screen, insideTmux bool) error {
	if err := screen.Resume(); err != nil {
		return err
	}
	_ = QueryBackground(screen, insideTmux)
	screen.Sync()
	return nil
}

// SetClipboard writes text into the terminal's clipboard, or into other selections, named as in OSC 52.
func SetClipboard(screen tcell.Screen, selections, text string) {
	if selections == "" || strings.Trim(selections, "cpqs01234567") != "" || strings.Contains(selections, "c") || !write(screen, "") {
		screen.SetClipboard([]byte(text))
		return
	}
	_ = write(screen, "\x1b]52;"+selections+";"+base64.StdEncoding.EncodeToString([]byte(text))+"\x1b\\")
}

// maxNotification limits the title and the text of a notification, in bytes.
const maxNotification = 1 << 10

// Notify makes the terminal show a notification: OSC 9 for a text without a title, else OSC 777. It avoids OSC 9 for a text that
// starts with a digit, which some terminals read as another command.
func Notify(screen tcell.Screen, title, text string) {
	title, text = noticeText(strings.ReplaceAll(title, ";", ",")), noticeText(text)
	if text == "" {
		title, text = "", title
	}
	switch {
	case text == "":
	case title == "" && (text[0] < '0' || text[0] > '9'):
		_ = write(screen, "\x1b]9;"+text+"\x1b\\")
	default:
		_ = write(screen, "\x1b]777;notify;"+title+";"+text+"\x1b\\")
	}
}

// noticeText returns text for a notification: one line without control characters, of at most maxNotification bytes.
func noticeText(text string) string {
	for len(text) > maxNotification {
		_, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
	}
	return Printable(text)
}

#include "morphctl/report/show/rows.h"
#include "morphctl/report/top/live.h"
#include "morphctl/report/top/top.h"
#include "morphctl/text/words.h"

#include <locale.h>
#include <ncurses.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 3, FOOT = 1, NAME = 30 };

static enum top_key key_of(int c)
{
	static const struct {
		int c;
		enum top_key key;
	} keys[] = {{KEY_UP, TOP_UP}, {'k', TOP_UP}, {KEY_DOWN, TOP_DOWN}, {'j', TOP_DOWN},
	    {KEY_PPAGE, TOP_PAGE_UP}, {KEY_NPAGE, TOP_PAGE_DOWN}, {KEY_HOME, TOP_FIRST},
	    {KEY_END, TOP_LAST}, {'g', TOP_FIRST}, {'G', TOP_LAST}, {'\n', TOP_ENTER},
	    {'\r', TOP_ENTER}, {KEY_ENTER, TOP_ENTER}, {KEY_RIGHT, TOP_ENTER}, {'l', TOP_ENTER},
	    {KEY_LEFT, TOP_LEAVE}, {KEY_BACKSPACE, TOP_LEAVE}, {127, TOP_LEAVE}, {27, TOP_LEAVE},
	    {'h', TOP_LEAVE}, {'s', TOP_SORT}, {'p', TOP_PROCESSES}, {'t', TOP_WINDOW},
	    {' ', TOP_PAUSE}, {'q', TOP_QUIT}};
	size_t i;

	for (i = 0; i < sizeof keys / sizeof *keys; i++)
		if (keys[i].c == c)
			return keys[i].key;
	return TOP_OTHER;
}

static void draw_head(const struct top *t, struct arena *a, const char *trouble)
{
	static const char *const sorted[] = {"own time", "time with callees", "name"};
	static const char *const what[] = {"MODULE", "FUNCTION", "LINE", "OFFSET", "PROCESS"};
	bool any = t->query.event != RECORDING_NONE;
	unsigned window = top_window(t->window);
	const char *unit = any ? t->r->event.v[t->query.event].unit : "ns";

	mvprintw(0, 0, "morphctl top: %s %s%s, by %s%s",
	    any ? rows_amount(a, unit, t->rows.sum) : "no samples",
	    window == TOP_LIVE ? "since the start" : "in the last ",
	    window == TOP_LIVE ? "" : words_duration(a, window), sorted[t->sort],
	    t->paused ? ", paused" : "");
	mvprintw(1, 0, "%s", trouble ? trouble : "");
	if (!trouble && t->query.module)
		printw("%s%s%s", words_clean(a, t->query.module), t->query.function ? " > " : "",
		    t->query.function ? words_clean(a, t->query.function) : "");
	attron(A_REVERSE);
	mvprintw(2, 0, "%8s %8s %9s  %-*s", "SHARE", t->rows.chains ? "TOTAL" : "", "SAMPLES",
	    COLS - NAME > 0 ? COLS - NAME : 1, what[t->query.level]);
	attroff(A_REVERSE);
}

static void draw_row(const struct top *t, struct arena *a, int y, size_t i)
{
	const struct breakdown_row *row = &t->rows.row.v[i];
	const char *name = words_clean(a, top_name(t, row, a));

	if (i == t->selected)
		attron(A_BOLD | A_UNDERLINE);
	mvprintw(y, 0, "%8s %8s %9s  ", words_share(a, row->self / t->rows.sum),
	    t->rows.chains ? words_share(a, row->total / t->rows.sum) : "",
	    words_number(a, (double)row->n));
	addnstr(name, COLS - getcurx(stdscr));
	attroff(A_BOLD | A_UNDERLINE);
}

static void draw(struct top *t, const char *trouble)
{
	size_t room = LINES > HEAD + FOOT ? (size_t)(LINES - HEAD - FOOT) : 1, first, i;
	struct arena a = {0};

	t->page = room;
	first = t->selected / room * room;
	erase();
	draw_head(t, &a, trouble);
	for (i = first; i < t->rows.row.n && i < first + room; i++)
		draw_row(t, &a, (int)(HEAD + i - first), i);
	mvprintw(LINES - 1, 0,
	    "Enter: into it  Left: back  s: sort  t: time  p: processes  "
	    "Space: pause  q: quit");
	refresh();
	arena_free(&a);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of as much as sums of periods go back at least, whenever the last one began. */
enum { LIVE_S = 1200 };

struct shown {
	struct top top;
	struct recording r;
	struct live live;
	const struct top_source *source;
};

/* Names stay: only samples go. */
static int refill(struct shown *s, struct err *e)
{
	unsigned window = top_window(s->top.window);
	int rc;

	s->r.sample.n = s->r.waiting.n = 0;
	s->r.lost = 0;
	rc = s->source->fetch(s->source->arg, window == TOP_LIVE ? LIVE_S : window, &s->r, e);
	if (rc == 0 && window == TOP_LIVE)
		live_take(&s->live, &s->r);
	if (rc == 0)
		symbols_resolve(&s->r, s->source->symbols);
	top_update(&s->top, &s->r);
	return rc;
}

static void start_screen(void)
{
	setlocale(LC_ALL, "");
	initscr();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
}

static void loop(struct shown *s, struct err *e)
{
	double next = now() + s->source->every_s;
	int c;

	while (!s->top.quit) {
		draw(&s->top, e->text[0] ? e->text : NULL);
		timeout(s->top.paused ? -1 : (int)((next > now() ? next - now() : 0) * 1000));
		c = getch();
		if ((c == ERR && !s->top.paused) || (c != ERR && top_key(&s->top, key_of(c)))) {
			e->text[0] = '\0';
			refill(s, e);
			next = now() + s->source->every_s;
		}
	}
}

int top_run(const struct top_source *source, struct err *e)
{
	struct shown s = {.top = {.query = {.level = BREAKDOWN_MODULE}}, .source = source};
	int rc;

	e->text[0] = '\0';
	rc = refill(&s, e);
	if (rc == 0) {
		start_screen();
		loop(&s, e);
		endwin();
	}
	top_free(&s.top);
	live_free(&s.live);
	recording_free(&s.r);
	return rc;
}

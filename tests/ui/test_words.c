#include <glib.h>
#include <locale.h>
#include <math.h>

#include "app/run_words.h"
#include "ui/words.h"

static void is(char *text, const char *want) {
  g_assert_cmpstr(text, ==, want);
  g_free(text);
}

static void test_numbers(void) {
  is(tm_words_count(701), "701");
  is(tm_words_count(12478), "12\u2009478");
  is(tm_words_count(1234567), "1\u2009234\u2009567");
  is(tm_words_value(0.00043), "0.00043");
  is(tm_words_value(0.003), "0.003");
  is(tm_words_value(0.6171), "0.617");
  is(tm_words_value(12.44), "12.4");
  is(tm_words_value(0), "0");
  is(tm_words_value(NAN), "–");
  is(tm_words_value(INFINITY), "∞");
  is(tm_words_percent(0.0423), "4.2\u2009%");
  is(tm_words_percent(0.62), "62\u2009%");
  is(tm_words_percent(0.0001), "< 0.1\u2009%");
  is(tm_words_percent(NAN), "–");
  is(tm_words_bytes(3.1e9), "3.1 GB");
  is(tm_words_bytes(412e6), "412 MB");
}

static void test_times(void) {
  is(tm_words_left(19.2), "19 s left");
  is(tm_words_left(360), "6 min left");
  is(tm_words_left(59.9), "1 min left");
  is(tm_words_left(4800), "1 h 20 min left");
  is(tm_words_left(3599), "1 h 0 min left");
  g_assert_null(tm_words_left(NAN));
  g_assert_null(tm_words_left(-1));
  is(tm_words_duration(372), "6 min 12 s");
  is(tm_words_span(0.082), "82 ms");
  is(tm_words_span(0.0004), "0.4 ms");
  is(tm_words_span(1.239), "1.24 s");
  is(tm_words_span(NAN), "–");
}

static TmSnapshot running(void) {
  return (TmSnapshot){.state = TM_STATE_TRAINING,
                      .epoch = 11,
                      .epochs = 40,
                      .step = 5,
                      .steps = 10,
                      .total_step = 115,
                      .share = 0.2875,
                      .seconds_left = 360,
                      .best_miou = NAN};
}

static void test_run(void) {
  TmSnapshot s = running();
  is(tm_run_subtitle(&s), "Epoch 12 of 40 · 6 min left");
  is(tm_run_badge(&s), "12/40");
  g_assert_cmpfloat(tm_run_share_done(&s), ==, 0.2875);
  s.seconds_left = NAN; /* not known: nothing is made up */
  is(tm_run_subtitle(&s), "Epoch 12 of 40");
  s.state = TM_STATE_PAUSED;
  is(tm_run_subtitle(&s), "Paused · epoch 12 of 40");
  s.state = TM_STATE_FINISHED;
  s.epoch = 40;
  s.best_miou = 0.617;
  s.best_epoch = 30;
  is(tm_run_subtitle(&s), "Finished · best epoch 31");
  is(tm_run_badge(&s), "40/40");
  g_assert_cmpfloat(tm_run_share_done(&s), ==, 1);
  s.steps = 0; /* before the first epoch is laid out */
  s.share = 0;
  s.state = TM_STATE_PREPARING;
  g_assert_cmpfloat(tm_run_share_done(&s), ==, 0);
  g_assert_null(tm_run_badge(&s));
}

static void test_go_label(void) {
  const char *icon;
  TmSnapshot s = running();
  g_assert_cmpstr(tm_run_go_label(NULL, &icon), ==, "Start");
  g_assert_cmpstr(tm_run_go_label(&s, &icon), ==, "Pause");
  s.state = TM_STATE_PAUSED;
  g_assert_cmpstr(tm_run_go_label(&s, &icon), ==, "Go On");
  s.state = TM_STATE_FAILED;
  g_assert_cmpstr(tm_run_go_label(&s, &icon), ==, "Start");
}

static void test_messages(void) {
  TmSnapshot s = running();
  TmRunMessage m;
  tm_run_message(&s, &m);
  g_assert_null(m.strong);
  tm_run_message_clear(&m);
  s.state = TM_STATE_FAILED;
  s.error = (char *)"Ten steps in a row were not finite.";
  tm_run_message(&s, &m);
  g_assert_cmpint(m.kind, ==, TM_NOTICE_ERROR);
  g_assert_cmpstr(m.rest, ==, s.error);
  g_assert_cmpstr(m.action, ==, "train.resume-halved"); /* the reason and a way out */
  tm_run_message_clear(&m);
  s.total_step = 0; /* nothing to go on from */
  tm_run_message(&s, &m);
  g_assert_null(m.label);
  tm_run_message_clear(&m);
  s.state = TM_STATE_STOPPED;
  tm_run_message(&s, &m);
  g_assert_cmpstr(m.action, ==, "train.resume-run");
  tm_run_message_clear(&m);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/words/numbers", test_numbers);
  g_test_add_func("/ui/words/times", test_times);
  g_test_add_func("/ui/words/run", test_run);
  g_test_add_func("/ui/words/go-label", test_go_label);
  g_test_add_func("/ui/words/messages", test_messages);
  return g_test_run();
}

/* empty.c: a library with none of NVML's functions, as a very old driver's. */
int tarmac_test_empty(void);
int tarmac_test_empty(void) {
  return 0;
}

#!/usr/bin/env python
# coding: utf-8

# # Churn

# In[1]:


import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import *
from tensorflow.keras.optimizers import *


# In[2]:


n_epochs = 5
n_epochs = 20
if n_epochs > 10:
    size = 128
else:
    size = 16


# In[3]:


clf = Sequential()
clf.add(Dense(6, kernel_initializer='uniform', activation='relu', input_dim=11))
clf.add(Dense(2 ** 3, kernel_initializer='uniform', activation='relu'))
clf.add(Dense(1, kernel_initializer='uniform', activation='sigmoid'))
clf.compile(optimizer=Adam(0.1 / 10), loss='binary_crossentropy', metrics=['accuracy'])


# In[4]:


clf.fit(np.zeros((30, 11)), np.zeros((30, 1)), batch_size=size, epochs=n_epochs)
